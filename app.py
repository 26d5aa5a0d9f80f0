"""FairLeak's dashboard: page settings, navigation, and the sidebar with what is audited.

The page's title goes out before anything that imports numpy is touched, so that the first words are on screen as soon
as Streamlit itself is there.
"""

from pages.shell import shell

shell.configure()
page = shell.navigation()
shell.open_page(page)

from pages.shell import controls, preparation, signin

controls.audit_settings(page.url_path)
preparation.show_progress()
signin.badge()
shell.run(page)
