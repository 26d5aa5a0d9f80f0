"""What the page on membership inference is made of: controls, the audit in the background, sentences, sections."""
