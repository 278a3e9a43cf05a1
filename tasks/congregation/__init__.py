"""A congregation's back office: its people, territories, campaigns, mails and files."""
