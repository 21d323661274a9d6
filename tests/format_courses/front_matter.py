"""A site of Jekyll and one of Hugo, with what is easily got wrong: drafts, parents, weights."""

JEKYLL: dict[str, str | bytes] = {
    "_config.yml": """\
title: The sea
url: https://course.example
baseurl: /sea
permalink: pretty
theme: just-the-docs
include: ["_extra"]
exclude: ["old/", "*.bak.md"]
collections:
  labs:
    output: true
    permalink: /labs/:name/
  notes:
    output: false
""",
    "Gemfile": "source 'x'\n",
    "index.md": "---\ntitle: Home\nnav_order: 1\n---\nThe sea is wide.\n",
    "waves.md": "---\ntitle: Waves\nnav_order: 3\n---\n# Waves\n\nWind makes waves.\n\n"
    "## Height\n\nOne.\n\n## Height\n\nTwo.\n{: .note}\n",
    "foam.md": "---\ntitle: Foam\nparent: Waves\nnav_order: 2\n---\nFoam is air.\n",
    "spray.md": "---\ntitle: Spray\nparent: Waves\nnav_order: 1\npermalink: /spray-at-sea\n---\n"
    "Spray is water.\n",
    "tides.md": "---\ntitle: Tides\nnav_order: 2\n---\n"
    "{% include toc.html %}The moon pulls{{ site.x }}.\n\n{% raw %}`{{ kept }}`{% endraw %}\n\n"
    "{% comment %}Nothing of this.{% endcomment %}{% highlight python %}\nprint(1)\n"
    "{% endhighlight %}\n\n{:toc}\n",
    "circle.md": "---\ntitle: Circle\nparent: Round\n---\nOne half.\n",
    "round.md": "---\ntitle: Round\nparent: Circle\n---\nThe other half.\n",
    "hidden.md": "---\ntitle: Hidden\npublished: false\n---\nNot yet.\n",
    "plain.md": "# Plain\n\nNo front matter at all.\n",
    "_extra/more.md": "---\ntitle: More\n---\nUnderscored, and included.\n",
    "_secret/less.md": "---\ntitle: Less\n---\nUnderscored.\n",
    "_drafts/idea.md": "---\ntitle: Idea\n---\nAn idea.\n",
    "_labs/02-gauge.md": "---\ntitle: The gauge\norder: 2\n---\nRead a gauge.\n",
    "_labs/01-chart.md": "---\ntitle: The chart\norder: 1\n---\nRead a chart.\n",
    "_notes/staff.md": "---\ntitle: Staff\n---\nFor staff.\n",
    "_posts/2026-03-04-spring-tide.md": "---\ntitle: Spring tide\ncategories: [news]\n---\nHigh.\n",
    "_posts/undated.md": "---\ntitle: Undated\n---\nNo date.\n",
    "old/waves.md": "---\ntitle: Old waves\n---\nAn earlier edition.\n",
    "copy.bak.md": "---\ntitle: Copy\n---\nA copy.\n",
    "_layouts/default.html": "<main>{{ content }}</main>",
    "_site/index.html": "<p>made</p>",
    "robots.txt": "User-agent: *\n",
}
JEKYLL_NAVIGATION: dict[str, str | bytes] = {
    "_config.yml": "url: https://course.example\ntheme: minimal-mistakes\n",
    "_data/navigation.yml": """\
main:
  - title: Elsewhere
    url: https://elsewhere.example/
docs:
  - title: The coast
    children:
      - title: "Cliffs first"
        url: /cliffs.html
      - title: Beaches
        url: /beaches
      - title: Gone
        url: /gone.html
""",
    "index.md": "---\n---\nThe coast.\n",
    "beaches.md": "---\ntitle: Beaches of sand\n---\nSand.\n",
    "cliffs.md": "---\ntitle: Cliffs\n---\nChalk.\n",
    "weeks/one.md": "---\ntitle: One\n---\nWeek one.\n",
}
JEKYLL_DEFAULTS: dict[str, str | bytes] = {
    "_config.yml": """\
url: https://course.example
permalink: /:categories/:year/:title
theme: minima
collections_dir: parts
collections:
  labs:
    output: true
  posts:
    output: true
defaults:
  - scope: {path: "", type: pages}
    values: {permalink: "/:basename/"}
  - scope: {path: "about", type: page}
    values: {permalink: "/:path/:basename.html", nav_order: 9}
  - scope: {path: "weeks/*/plan.md"}
    values: {permalink: "/plans/:path/"}
  - scope: {path: "parts/_labs/late", type: labs}
    values: {permalink: "/:collection/:name:output_ext"}
  - scope: {path: "", type: labs}
    values: {published: true}
  - scope: {path: "_labs/staff"}
    values: {published: false}
  - values: wrong
  - wrong
""",
    "index.md": "---\ntitle: Home\npermalink: /\n---\nHome.\n",
    "about/us.md": "---\ntitle: Us\n---\nWe.\n",
    "weeks/one/plan.md": "---\ntitle: Plan\n---\nA plan.\n",
    "weeks/one/notes.md": "---\ntitle: Notes\n---\nNotes.\n",
    "weeks/own.md": "---\ntitle: Own\npermalink: /mine:output_ext\n---\nIts own.\n",
    "parts/_labs/2026-02-03-read_a gauge.md": "---\ntitle: Gauge\n---\nRead a gauge.\n",
    "parts/_labs/late/read_a gauge.md": "---\ntitle: Late\n---\nRead it late.\n",
    "parts/_labs/staff/answers.md": "---\ntitle: Answers\n---\nFor staff.\n",
    "parts/_posts/2026-01-05-High Water.md": "---\ntitle: High\n---\nHigh.\n",
    "parts/sea/_posts/2026-01-06-low.md": "---\ntitle: Low\ncategories: Ebb news\n"
    "date: 2025-12-31 10:00\nslug: low-water\n---\nLow.\n",
}
HUGO_PERMALINKS: dict[str, str | bytes] = {
    "hugo.toml": """\
baseURL = "https://course.example/"
defaultContentLanguage = "en"
defaultContentLanguageInSubdir = true
[languages.en.permalinks]
"/" = "/pages/:slugorcontentbasename/"
[languages.en.permalinks.page]
talks = "/talks/:year/:monthname/:02/:slug"
labs = "/:sections[1:]/:contentbasename/"
[languages.en.permalinks.section]
talks = "/all-talks/"
[languages.de]
[uglyURLs]
notes = true
""",
    "content/_index.md": "---\ntitle: Home\n---\nHome.\n",
    "content/about.md": "---\ntitle: About\n---\nUs.\n",
    "content/talks/_index.md": "---\ntitle: Talks\n---\nTalks.\n",
    "content/talks/Ebb & flow.md": "---\ntitle: Ebb & Flow!\ndate: 2026-03-04T10:00:00Z\n---\n"
    "Ebb.\n",
    "content/talks/slug.md": "+++\ntitle = 'Long'\nslug = 'short'\ndate = 2026-11-05\n+++\n"
    "Short.\n",
    "content/talks/url.md": "---\ntitle: Url\nurl: /:section/own\naliases: [/old/]\n---\nOwn.\n",
    "content/talks/file.md": "---\ntitle: File\nurl: own/page.html\n---\nA file.\n",
    "content/labs/first/_index.md": "---\ntitle: First\n---\nFirst.\n",
    "content/labs/first/loose/gauge/index.md": "---\ntitle: Gauge\n---\nA gauge.\n",
    "content/labs/first/loose/gauge/table.pdf": b"%PDF-1.4 broken",
    "content/notes/one.md": "---\ntitle: One\n---\nOne.\n",
    "content/notes/sub/_index.md": "---\ntitle: Sub\n---\nSub.\n",
}
HUGO_TARGETS: dict[str, str | bytes] = {
    "hugo.yaml": """\
baseURL: https://course.example/
permalinks:
  - pattern: /buch/:slug/
    target: {sites: {matrix: {languages: [de]}}}
  - pattern: /book/
    target: {path: "{/weeks}", kind: section}
  - pattern: /book/:sections[last]/:title/
    target: {path: "{/weeks/**}"}
  - pattern: /rest/:contentbasename/
""",
    "content/weeks/_index.md": "---\ntitle: Weeks\n---\nWeeks.\n",
    "content/weeks/one.md": "---\ntitle: Week One\n---\nOne.\n",
    "content/other/two.md": "---\ntitle: Two\n---\nTwo.\n",
}
HUGO: dict[str, str | bytes] = {
    "hugo.toml": """\
baseURL = "https://course.example/sea/"
title = "The sea"
defaultContentLanguage = "en"
[languages.en]
[languages.de]
[[menus.main]]
pageRef = "/waves"
[[menus.main]]
pageRef = "/gone"
""",
    "content/_index.md": "---\ntitle: The sea\n---\nThe sea is wide.\n",
    "content/about.md": "+++\ntitle = 'About us'\nweight = 30\n+++\nWe sail.\n",
    "content/waves/_index.md": "+++\ntitle = 'Waves'\nlinkTitle = 'On waves'\nweight = 20\n+++\n"
    "Wind makes waves.\n",
    "content/waves/Foam and spray.md": "---\ntitle: Foam\nweight: 2\n---\n## Air\n\nOne.\n\n"
    "## Air\n\nTwo.\n",
    "content/waves/height.md": "---\ntitle: Height\nweight: 1\nslug: how-high\n---\n"
    '{{< figure src="a.png" >}}Metres.\n\n{{% notice tip %}}Look up.{{% /notice %}}\n\n'
    '{{< highlight go >}}\nprint("h")\n{{< /highlight >}}\n\nWrite `{{</* ref "x" */>}}`.\n',
    "content/waves/unweighted.md": "---\ntitle: Unweighted\n---\nLast.\n",
    "content/waves/unweighted.de.md": "---\ntitle: Ohne Gewicht\n---\nZuletzt.\n",
    "content/tides/_index.md": "---\ntitle: Tides\nweight: 10\n---\nThe moon pulls.\n",
    "content/tides/spring/index.md": "---\ntitle: Spring tides\n---\nHigh water.\n",
    "content/tides/spring/part.md": "---\ntitle: Part\n---\nA part.\n",
    "content/tides/spring/table.pdf": b"%PDF-1.4 broken",
    "content/tides/old.md": "---\ntitle: Old\nurl: /archive/old-tides/\n---\nOld tides.\n",
    "content/_drafts/now.md": "---\ntitle: Now\n---\nUnderscored, and published.\n",
    "content/later.md": "---\ntitle: Later\ndraft: true\n---\nLater.\n",
    "content/nowhere.md": "---\ntitle: Nowhere\nbuild:\n  render: never\n---\nNowhere.\n",
    "content/raw.html": "<p>raw</p>",
    "public/index.html": "<p>made</p>",
    "themes/t/README.md": "# A theme\n",
}
