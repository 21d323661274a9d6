"""What tesseract calls the languages that a course may be in."""

from collections.abc import Mapping

_NAMES: Mapping[str, str] = dict(
    pair.split("=")
    for pair in (
        "af=afr am=amh ar=ara as=asm az=aze be=bel bg=bul bn=ben bo=bod br=bre bs=bos ca=cat "
        "co=cos cs=ces cy=cym da=dan de=deu dv=div dz=dzo el=ell en=eng eo=epo es=spa et=est "
        "eu=eus fa=fas fi=fin fo=fao fr=fra fy=fry ga=gle gd=gla gl=glg gu=guj he=heb hi=hin "
        "hr=hrv ht=hat hu=hun hy=hye id=ind is=isl it=ita iu=iku ja=jpn jv=jav ka=kat kk=kaz "
        "km=khm kn=kan ko=kor ku=kmr ky=kir la=lat lb=ltz lo=lao lt=lit lv=lav mi=mri mk=mkd "
        "ml=mal mn=mon mr=mar ms=msa mt=mlt my=mya nb=nor ne=nep nl=nld nn=nor no=nor oc=oci "
        "or=ori pa=pan pl=pol ps=pus pt=por qu=que ro=ron ru=rus sa=san sd=snd si=sin sk=slk "
        "sl=slv sq=sqi sr=srp su=sun sv=swe sw=swa ta=tam te=tel tg=tgk th=tha ti=tir tl=fil "
        "to=ton tr=tur tt=tat ug=uig uk=ukr ur=urd uz=uzb vi=vie yi=yid yo=yor zh=chi_sim "
    ).split()
)
"""By ISO 639-1; almost all are those of ISO 639-2/T."""
_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})
"""Scripts and regions of Chinese that is written in traditional characters."""


def tesseract_name(language: str) -> str:
    """Return what tesseract calls the language of a BCP 47 tag: `de-AT` is `deu`.

    A tag of three letters, and one that is not known, stay as they are.
    """
    first, *others = language.lower().split("-")
    if first == "zh" and _TRADITIONAL.intersection(others):
        return "chi_tra"
    if first == "sr" and "latn" in others:
        return "srp_latn"
    return _NAMES.get(first, first)
