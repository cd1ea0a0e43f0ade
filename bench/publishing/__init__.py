"""What bench/publish is made of: cases (what is measured), measuring, page, pictures."""
