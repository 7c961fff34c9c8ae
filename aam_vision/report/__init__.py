"""The report of a run: the page ``report.html``, and the same in a terminal.

``recorded`` reads a run's folder, which may be anybody's; ``account`` says in words what was learned and shows the proofs
of it; ``page`` and ``terminal`` lay that out. Nothing here runs code, follows a link or writes outside the folder.
"""
