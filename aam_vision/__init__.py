"""aam-vision: find out what a black-box agent can do, by asking it.

An agent acts in a simulator and shows its states only as images. The toolkit poses plan outcome
queries, reads the images with trained classifiers, and recovers the agent's STRIPS model in the
user's own words (Verma, Marpally, Srivastava: "Asking the Right Questions", AAAI-21).
"""

__version__ = "0.1.0"
