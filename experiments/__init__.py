"""What the paper measured, and what it should have measured: one module per table or figure. Not shipped."""
