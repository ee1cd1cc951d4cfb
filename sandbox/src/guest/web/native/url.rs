//! `URL` and the text form of its parameters. A call parses or changes a whole address and answers with all that the
//! getters show.

use rquickjs::{Ctx, Function, Object, Result, String as Text};

use super::super::address::Address;
use super::super::{Web, address, form};
use super::bytes::with_text;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("urlParse", Function::new(ctx.clone(), url_parse)?)?;
    natives.set("urlCanParse", Function::new(ctx.clone(), url_can_parse)?)?;
    natives.set("urlSet", Function::new(ctx.clone(), url_set)?)?;
    natives.set("domainToUnicode", Function::new(ctx.clone(), domain_to_unicode)?)?;
    natives.set("formDecode", Function::new(ctx.clone(), form_decode)?)?;
    natives.set("formEncode", Function::new(ctx.clone(), form_encode)?)
}

/// `urlParse(input, base) -> record | undefined`. The record has what each getter of `URL` shows, and `query`: null where
/// there is none.
fn url_parse<'js>(ctx: Ctx<'js>, input: Text<'js>, base: Option<Text<'js>>) -> Result<Option<Object<'js>>> {
    let parsed = with_base(&ctx, input, base, address::parse)?;
    if let Some(web) = ctx.userdata::<Web<'_>>() {
        web.urls.set(true);
    }
    parsed.map(|url| record(&ctx, &url)).transpose()
}

/// `urlCanParse(input, base) -> boolean`.
fn url_can_parse<'js>(ctx: Ctx<'js>, input: Text<'js>, base: Option<Text<'js>>) -> Result<bool> {
    with_base(&ctx, input, base, address::can_parse)
}

/// `urlSet(href, member, value) -> record | undefined`: what a setter makes of an address, undefined when it stays as it is.
fn url_set<'js>(ctx: Ctx<'js>, href: Text<'js>, member: String, value: Text<'js>) -> Result<Option<Object<'js>>> {
    let changed = with_text(&ctx, href, COPIES, |href| {
        with_text(&ctx, value, COPIES, |value| address::set(href, &member, value))
    })??;
    changed.map(|url| record(&ctx, &url)).transpose()
}

fn with_base<'js, T>(
    ctx: &Ctx<'js>,
    input: Text<'js>,
    base: Option<Text<'js>>,
    parse: impl FnOnce(&str, Option<&str>) -> T,
) -> Result<T> {
    with_text(ctx, input, COPIES, |input| match base {
        Some(base) => with_text(ctx, base, COPIES, |base| parse(input, Some(base))),
        None => Ok(parse(input, None)),
    })?
}

fn record<'js>(ctx: &Ctx<'js>, url: &Address) -> Result<Object<'js>> {
    let record = Object::new(ctx.clone())?;
    record.set_prototype(None)?;
    for (name, text) in url.parts() {
        record.set(name, text)?;
    }
    record.set("origin", url.origin())?;
    match url.query() {
        Some(query) => record.set("query", query)?,
        None => record.set("query", rquickjs::Null)?,
    }
    Ok(record)
}

/// `domainToUnicode(text) -> text`: a domain as people read it, empty for what is none.
fn domain_to_unicode<'js>(ctx: Ctx<'js>, domain: Text<'js>) -> Result<String> {
    with_text(&ctx, domain, COPIES, url::quirks::domain_to_unicode)
}

/// `formDecode(text) -> text`: a name or a value of application/x-www-form-urlencoded.
fn form_decode<'js>(ctx: Ctx<'js>, text: Text<'js>) -> Result<String> {
    with_text(&ctx, text, COPIES, form::decode)
}

/// `formEncode(text) -> text`: the other way.
fn form_encode<'js>(ctx: Ctx<'js>, text: Text<'js>) -> Result<String> {
    with_text(&ctx, text, COPIES, form::encode)
}

/// How many times its size a text takes at most while a native works on it: four as code points, and every byte may
/// become three in the address, in its parts, and in the whole.
pub(super) const COPIES: usize = 16;
