"""FairLeak's dashboard: page settings, navigation, and the sidebar with what is audited.

Nothing heavy is imported here, so that the first words are on screen as soon as Streamlit itself is there.
"""

from pages.common import controls, shell

shell.configure()
page = shell.navigation()
controls.audit_settings(page.url_path)
shell.run(page)
