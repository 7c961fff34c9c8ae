"""The report of a run: the page ``report.html``, and the same in a terminal.

``recorded`` reads a run's folder, which may be anybody's; ``account`` is what was learned, in words, with the proofs of it, filled
in by ``told_account``, ``control_account`` and ``chance_account``; ``page`` and ``terminal`` lay that out, whatever kind of agent it
was. Nothing here runs code, follows a link or writes outside the folder.
"""
