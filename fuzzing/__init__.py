"""Whatever strangers may send, sent in large amounts."""
