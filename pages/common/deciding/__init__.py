"""Parts of the Report page: the audit of a release, its verdict, the policy it is judged by, and its reports."""
