"""The paper's measurements and further ones: one module per table or figure. Not shipped."""
