"""This toolkit behind the interfaces of other packages, which are imported only here."""
