"""Two lectures as subtitles: rolled up, out of order, with notes, in two languages, half broken."""

COURSE = {
    "week-1/Tides_a-1.en.vtt": """\
WEBVTT - The tides

STYLE
::cue { color: papayawhip }

NOTE
Nobody hears this note.

first cue
00:00.000 --> 00:04.000 align:start position:0%
<v Ada Reed>The tide <i>rises</i> twice a day,

00:04.000 --> 00:09.500
and a spring tide comes after a new moon &amp; a full one.

00:01:05.000 --> 00:01:09.000
- Why is that?

01:02:05.000 --> 01:02:09.000
<v Ben>Sun and moon pull <b>in one line</b>, if x < y and y > z.
""",
    "week-1/Tides_a-1.de.srt": """\
1\r
00:00:00,000 --> 00:00:04,000\r
{\\an8}Die Flut kommt <i>zweimal</i> am Tag.\r
\r
2\r
0:1:5,0 --> 0:1:9,0\r
Warum?\r
""",
    "_extra/rolled.vtt": """\
WEBVTT
Kind: captions
Language: en

00:00:01.000 --> 00:00:03.000
the harbour<00:00:01.500><c> of</c><00:00:02.000><c> Arden</c>

00:00:03.000 --> 00:00:03.010
the harbour of Arden

00:00:03.010 --> 00:00:06.000
the harbour of Arden
lies<00:00:04.000><c> open to the west</c>
""",
    "broken.srt": """\
00:00:01,000 --> 00:00:02,000
A cue without a number
4
00:00:02,000 --> 00:00:03,000
runs on.

A line after a blank one.

99:99 -> nowhere
00:00:20,000 --> 00:00:21,000

6
00:00:30,000 --> 00:00:31,000
The end.
""",
    "empty.vtt": "WEBVTT\n\nNOTE only a note\n",
}
