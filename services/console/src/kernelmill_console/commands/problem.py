"""Commands for problems: check a folder, make a new one, list what ships."""

from cyclopts import App

app = App(name="problem", help="Check a problem's folder, make a new one, list what ships.")
