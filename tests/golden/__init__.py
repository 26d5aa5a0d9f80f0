"""What the product says today, as files: reports, the commands' outputs, the pages' texts, and files of every form."""
