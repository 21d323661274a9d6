"""files.*: a file is announced, uploaded to an address of its own, then shared."""

from tests.wire.slack.entities import Upload
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.posting import Draft
from tests.wire.slack.requests import Method, Request, Table
from tests.wire.slack.world import World


def get_upload_url(request: Request) -> Json:
    """files.getUploadURLExternal."""
    name, length = request.required("filename"), request.number("length", 0)
    if length < 1:
        raise SlackError("invalid_arguments", "must be greater than 0 [json-pointer:/length]")
    upload = Upload(request.world.new_id("F"), name, length, request.installation)
    request.world.uploads[upload.id] = upload
    address = f"{request.world.base_url}/upload/v1/{upload.id}"
    return {"ok": True, "upload_url": address, "file_id": upload.id}


def complete_upload(request: Request) -> Json:
    """files.completeUploadExternal."""
    listed = request.structure("files", "invalid_arguments")
    if not isinstance(listed, list) or not listed:
        raise SlackError("invalid_arguments", "missing required field: files [json-pointer:]")
    uploads = [_uploaded(request, str(entry.get("id"))) for entry in listed]
    for upload, entry in zip(uploads, listed, strict=True):
        upload.title = entry.get("title") or upload.name
    if request.text("channel_id"):
        _share(request, uploads)
    return {"ok": True, "files": [{"id": u.id, "title": u.title} for u in uploads]}


def _uploaded(request: Request, file_id: str) -> Upload:
    upload = request.world.uploads.get(file_id)
    if upload is None or upload.installation is not request.installation or upload.content is None:
        raise SlackError("file_not_found")
    return upload


def _share(request: Request, uploads: list[Upload]) -> None:
    channel = request.joined_channel("channel_id")
    if channel.archived:
        raise SlackError("is_archived")
    draft = Draft(text=request.text("initial_comment"), files=uploads, unfurls=False)
    draft.thread_ts = request.text("thread_ts") or None
    installation = request.installation
    request.world.posting.create(installation.bot, channel, draft, installation=installation)


def take(world: World, file_id: str, content: bytes) -> bool:
    """Keep what was uploaded; False: nothing of that length was announced."""
    upload = world.uploads.get(file_id)
    if upload is None or len(content) != upload.length:
        return False
    upload.content = content
    return True


METHODS: Table = {
    "files.completeUploadExternal": Method(complete_upload, "files:write"),
    "files.getUploadURLExternal": Method(get_upload_url, "files:write", json=False),
}
