"""`python -m opilio.cli` is the command `opilio`."""

from opilio.cli import main

main()
