"""Guards of `bot/`."""

from tests.mutants.mutant import Mutant

LOG = "tests/unit/bot/test_log.py"
SETTINGS = "tests/unit/bot/test_settings.py"
SECRETS = "tests/security/test_secrets.py"

IN_BOT = (
    Mutant(
        "let a log line be forged",
        "bot/log.py",
        "(c if c.isprintable() else c.encode",
        "(c if c else c.encode",
        "a record is one line",
        (f"{LOG}::test_a_text_line_cannot_be_forged",),
    ),
    Mutant(
        "let a traceback forge a log line",
        "bot/log.py",
        "indent(self.formatException(record.exc_info), '    ')",
        "self.formatException(record.exc_info)",
        "a text in a traceback passes for no record",
        (f"{LOG}::test_a_text_line_cannot_be_forged",),
    ),
    Mutant(
        "let other libraries log what they send",
        "bot/log.py",
        "    handler.addFilter(_is_for_operators)",
        "    handler",
        "libraries log no texts and no addresses with secrets",
        (f"{LOG}::test_what_libraries_send_and_store_is_told_at_no_level",),
    ),
    Mutant(
        "hash users without a key",
        "bot/keys.py",
        "        return hmac.new(self._key, name, hashlib.sha256).hexdigest()\n",
        '        return hmac.new(b"", name, hashlib.sha256).hexdigest()\n',
        "who has the database cannot try out names",
        (f"{SECRETS}::test_a_pseudonym_needs_the_key_and_tells_places_apart",),
    ),
    Mutant(
        "give a user one pseudonym everywhere",
        "bot/keys.py",
        '        name = f"{platform}:{workspace}:{user}".encode()\n',
        '        name = f"{user}".encode()\n',
        "two workspaces cannot compare their users",
        (f"{SECRETS}::test_a_pseudonym_needs_the_key_and_tells_places_apart",),
    ),
    Mutant(
        "seal with nothing",
        "bot/keys.py",
        "        return self._fernet().encrypt(secret.encode())\n",
        "        return secret.encode()\n",
        "a token at rest is sealed",
        (f"{SECRETS}::test_what_is_sealed_shows_nothing_and_opens_with_its_keys_alone",),
    ),
    Mutant(
        "let others read the key file",
        "bot/keys.py",
        "os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)",
        "os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)",
        "a key on disk is its owner's",
        (f"{SECRETS}::test_a_kept_key_is_its_owners_alone_and_stays",),
    ),
    Mutant(
        "run over HTTP without a signing secret",
        "bot/platforms.py",
        'if self.transport == "http" and self.signing_secret is None:\n',
        "if False:\n",
        "nobody can send events of their own",
        (f"{SECRETS}::test_slack_over_http_is_refused_without_a_signing_secret",),
    ),
)
