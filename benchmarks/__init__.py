"""How long interrogations take: `make bench`. Not shipped."""
