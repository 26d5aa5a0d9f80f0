"""What the AttriGuard page is made of: where the people come from, controls, the study in the background, sections."""
