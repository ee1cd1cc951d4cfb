//! `URLPattern`: patterns and inputs taken apart for the script, which does the matching.

use std::borrow::Cow;

use rquickjs::{Ctx, Error, Exception, Function, Object, Result, String as Text, Value};
use urlpattern::quirks::{StringOrInit, UrlPatternComponent};

use super::super::pattern::{self, Given};
use super::bytes::{charge, with_text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("compilePattern", Function::new(ctx.clone(), compile_pattern)?)?;
    natives.set("patternInput", Function::new(ctx.clone(), pattern_input)?)
}

/// `compilePattern(input, base, ignoreCase, matchesSpecial) -> {protocol, …, hash, hasRegExpGroups}`: each component is
/// `{pattern, expression, groups}`, the names of its groups joined by commas. The input is a text, or a record of texts;
/// `matchesSpecial(source)` says whether that expression matches a special scheme.
fn compile_pattern<'js>(
    ctx: Ctx<'js>,
    input: Value<'js>,
    base: Option<Text<'js>>,
    ignore_case: bool,
    matches_special: Function<'js>,
) -> Result<Object<'js>> {
    let (input, size) = take(&ctx, input)?;
    if size > pattern::MOST_PATTERN_BYTES {
        let most = pattern::MOST_PATTERN_BYTES;
        let message = format!("Failed to construct 'URLPattern': the pattern is longer than {most} bytes.");
        return Err(Exception::throw_type(&ctx, &message));
    }
    let base = base.map(|base| with_text(&ctx, base, COPIES, str::to_owned)).transpose()?;
    let given = Given { input, base: base.as_deref() };
    let compiled = pattern::compile(given, ignore_case, |source| matches_special.call::<_, bool>((source,)))?;
    let compiled = compiled
        .map_err(|error| Exception::throw_type(&ctx, &format!("Failed to construct 'URLPattern': {error}.")))?;
    let result = bare(&ctx)?;
    for (name, component) in [
        ("protocol", compiled.protocol),
        ("username", compiled.username),
        ("password", compiled.password),
        ("hostname", compiled.hostname),
        ("port", compiled.port),
        ("pathname", compiled.pathname),
        ("search", compiled.search),
        ("hash", compiled.hash),
    ] {
        let UrlPatternComponent { pattern_string, regexp_string, group_name_list, .. } = component;
        let object = bare(&ctx)?;
        object.set("pattern", pattern_string)?;
        object.set("expression", regexp_string)?;
        object.set("groups", group_name_list.join(","))?;
        result.set(name, object)?;
    }
    result.set("hasRegExpGroups", compiled.has_regexp_groups)?;
    Ok(result)
}

/// `patternInput(input, base) -> {protocol, …, hash} | undefined`: the components of what a pattern is matched against.
fn pattern_input<'js>(ctx: Ctx<'js>, input: Value<'js>, base: Option<Text<'js>>) -> Result<Option<Object<'js>>> {
    let (input, _) = take(&ctx, input)?;
    let base = base.map(|base| with_text(&ctx, base, COPIES, str::to_owned)).transpose()?;
    let found = pattern::components(Given { input, base: base.as_deref() });
    let Some(found) = found.map_err(|error| Exception::throw_type(&ctx, &error))? else { return Ok(None) };
    let result = bare(&ctx)?;
    result.set("protocol", found.protocol)?;
    result.set("username", found.username)?;
    result.set("password", found.password)?;
    result.set("hostname", found.hostname)?;
    result.set("port", found.port)?;
    result.set("pathname", found.pathname)?;
    result.set("search", found.search)?;
    result.set("hash", found.hash)?;
    Ok(Some(result))
}

/// The input, and the bytes of its texts.
fn take<'js>(ctx: &Ctx<'js>, input: Value<'js>) -> Result<(StringOrInit<'static>, usize)> {
    if let Some(text) = input.as_string() {
        let text = with_text(ctx, text.clone(), COPIES, str::to_owned)?;
        let size = text.len();
        return Ok((StringOrInit::String(Cow::Owned(text)), size));
    }
    let record = input.into_object().ok_or(Error::Unknown)?;
    let mut size = 0;
    let init = pattern::record(|name| {
        let Some(text) = record.get::<_, Option<Text<'js>>>(name)? else { return Ok(None) };
        let text = with_text(ctx, text, COPIES, str::to_owned)?;
        size += text.len();
        charge(ctx, size.saturating_mul(COPIES))?;
        Ok::<_, Error>(Some(text))
    })?;
    Ok((StringOrInit::Init(init), size))
}

fn bare<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set_prototype(None)?;
    Ok(object)
}

/// How many times its size a text takes at most while it is taken apart.
const COPIES: usize = 12;
