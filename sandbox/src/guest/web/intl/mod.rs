//! ECMA-402: what `Intl` and the `toLocale…` methods know of languages.
//!
//! The algorithms that need big tables (collation, segmentation, plural rules, case, likely subtags) are ICU4X's. Names
//! and patterns are tables of our own, made from CLDR: ICU4X's formatters have no free choice of date fields, no units
//! of data, temperature or speed, and no parts. The scripts in `js/intl` read options and shape objects; natives here
//! resolve and format. A language that has no tables is not supported, and `supportedLocalesOf` says so.

mod collation;
mod cuts;
mod data;
mod date;
mod decimal;
#[cfg(test)]
mod hold;
mod number;
mod options;
mod parts;
mod plural;
mod relative;
mod segment;
mod tag;

use rquickjs::class::{Trace, Tracer};
use rquickjs::{Class, Ctx, Exception, Function, JsLifetime, Object, Result, Value, class, function};

use super::native::bytes;
use data::{Locale, supplemental};
use date::DateFormat;
use decimal::Decimal;
use number::NumberFormat;
use parts::Parts;
use plural::Plurals;
use relative::RelativeFormat;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    let intl = Object::new(ctx.clone())?;
    intl.set_prototype(None)?;
    intl.set("canonical", Function::new(ctx.clone(), |text: String| tag::canonical(&text))?)?;
    intl.set("tagParts", Function::new(ctx.clone(), |text: String| tag::parts(&text).join("\0"))?)?;
    intl.set("withKeywords", Function::new(ctx.clone(), with_keywords)?)?;
    intl.set("withParts", Function::new(ctx.clone(), with_parts)?)?;
    intl.set("likely", Function::new(ctx.clone(), |text: String, more: bool| tag::likely(&text, more))?)?;
    intl.set("best", Function::new(ctx.clone(), |text: String| tag::best(&text))?)?;
    intl.set("region", Function::new(ctx.clone(), |text: String| tag::region(&text))?)?;
    intl.set("isRightToLeft", Function::new(ctx.clone(), |text: String| tag::is_right_to_left(&text))?)?;
    intl.set("text", Function::new(ctx.clone(), text)?)?;
    intl.set("supplemental", Function::new(ctx.clone(), |key: String| supplemental(&key))?)?;
    intl.set("isUnit", Function::new(ctx.clone(), |name: String| number::is_unit(&name))?)?;
    intl.set("isSystem", Function::new(ctx.clone(), |name: String| number::is_system(&name))?)?;
    intl.set("zone", Function::new(ctx.clone(), |name: String| date::Zone::named(&name).map(|zone| zone.name))?)?;
    intl.set("preferredHour", Function::new(ctx.clone(), |tag: String| date::preferred_hour(&tag).to_string())?)?;
    intl.set("newNumber", Function::new(ctx.clone(), new_number)?)?;
    intl.set("newDate", Function::new(ctx.clone(), new_date)?)?;
    intl.set("newPlural", Function::new(ctx.clone(), new_plural)?)?;
    intl.set("newRelative", Function::new(ctx.clone(), new_relative)?)?;
    intl.set("newCollator", Function::new(ctx.clone(), new_collator)?)?;
    intl.set("number", Function::new(ctx.clone(), format_number)?)?;
    intl.set("date", Function::new(ctx.clone(), format_date)?)?;
    intl.set("datePattern", Function::new(ctx.clone(), date_pattern)?)?;
    intl.set("plural", Function::new(ctx.clone(), plural)?)?;
    intl.set("pluralCategories", Function::new(ctx.clone(), plural_categories)?)?;
    intl.set("relative", Function::new(ctx.clone(), format_relative)?)?;
    intl.set("compare", Function::new(ctx.clone(), collation::compare)?)?;
    intl.set("boundaries", Function::new(ctx.clone(), segment::boundaries)?)?;
    intl.set("mapCase", Function::new(ctx.clone(), segment::map_case)?)?;
    natives.set("intl", intl)
}

/// What formats in one way; made once for each object of a program.
enum Formatter {
    Number(NumberFormat),
    Date(DateFormat),
    Plural(NumberFormat, Plurals),
    Relative(RelativeFormat),
    Collator(collation::Collation),
}

impl<'js> Trace<'js> for Formatter {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: holds nothing of the engine.
unsafe impl<'js> JsLifetime<'js> for Formatter {
    type Changed<'to> = Formatter;
}

impl<'js> class::JsClass<'js> for Formatter {
    const NAME: &'static str = "Formatter";
    type Mutable = class::Readable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<function::Constructor<'js>>> {
        Ok(None)
    }
}

type Instance<'js> = Class<'js, Formatter>;

/// `withKeywords(tag, "key\0value\0…") -> tag | undefined`.
fn with_keywords(text: String, keywords: String) -> Option<String> {
    let keywords: Vec<String> = keywords.split('\0').map(str::to_owned).collect();
    tag::with_keywords(&text, &keywords)
}

/// `withParts(tag, language, script, region, variants) -> tag | undefined`; an empty part stays as it is.
fn with_parts(text: String, language: String, script: String, region: String, variants: String) -> Option<String> {
    tag::with_parts(&text, &language, &script, &region, &variants)
}

/// `text(locale, key) -> string | undefined`, from the tables.
fn text(locale: String, key: String) -> Option<&'static str> {
    locale_of(&locale)?.get(&key)
}

fn locale_of(tag: &str) -> Option<Locale> {
    tag::available(tag)
}

fn new_number<'js>(ctx: Ctx<'js>, options: Object<'js>) -> Result<Instance<'js>> {
    let options = options::number(&ctx, &options)?;
    Class::instance(ctx, Formatter::Number(NumberFormat::new(options)))
}

fn new_date<'js>(ctx: Ctx<'js>, options: Object<'js>) -> Result<Instance<'js>> {
    let options = options::date(&ctx, &options)?;
    Class::instance(ctx, Formatter::Date(DateFormat::new(options)))
}

/// `newPlural(number options, ordinal)`.
fn new_plural<'js>(ctx: Ctx<'js>, options: Object<'js>, ordinal: bool) -> Result<Instance<'js>> {
    let options = options::number(&ctx, &options)?;
    let kind = if ordinal { icu::plurals::PluralRuleType::Ordinal } else { icu::plurals::PluralRuleType::Cardinal };
    let plurals = Plurals::new(&options.tag, kind);
    Class::instance(ctx, Formatter::Plural(NumberFormat::new(options), plurals))
}

/// `newRelative(number options, style, auto)`.
fn new_relative<'js>(ctx: Ctx<'js>, options: Object<'js>, style: String, auto: bool) -> Result<Instance<'js>> {
    let options = options::number(&ctx, &options)?;
    Class::instance(ctx, Formatter::Relative(RelativeFormat::new(options, style, auto)))
}

/// `newCollator(tag, sensitivity, ignorePunctuation, numeric, caseFirst)`.
fn new_collator<'js>(
    ctx: Ctx<'js>,
    tag: String,
    sensitivity: String,
    punctuation: bool,
    numeric: bool,
    first: String,
) -> Result<Instance<'js>> {
    let collation = collation::Collation::new(&tag, &sensitivity, punctuation, numeric, &first);
    let Some(collation) = collation else { return Err(Exception::throw_range(&ctx, "The collation is not supported")) };
    Class::instance(ctx, Formatter::Collator(collation))
}

/// `number(formatter, value, end, parts)`: text, or its parts; of a range when `end` is given. Values are numbers, or
/// strings of decimal digits with sign, point and exponent.
fn format_number<'js>(
    ctx: Ctx<'js>,
    formatter: Instance<'js>,
    value: Value<'js>,
    end: Value<'js>,
    parts: bool,
) -> Result<Value<'js>> {
    let formatter = formatter.borrow();
    let Formatter::Number(format) = &*formatter else { return Err(foreign(&ctx)) };
    let value = decimal_of(&ctx, &value)?;
    if end.is_undefined() {
        return shown(&ctx, &format.format(&value), parts, false);
    }
    shown(&ctx, &format.format_range(&value, &decimal_of(&ctx, &end)?), parts, true)
}

/// `date(formatter, milliseconds, end, parts)`, likewise.
fn format_date<'js>(
    ctx: Ctx<'js>,
    formatter: Instance<'js>,
    time: f64,
    end: Value<'js>,
    parts: bool,
) -> Result<Value<'js>> {
    let formatter = formatter.borrow();
    let Formatter::Date(format) = &*formatter else { return Err(foreign(&ctx)) };
    // As V8 does since programs were found that look for a plain space.
    let plain = |date: &Parts| date.replaced('\u{202f}', " ");
    let range = end.as_number().map(|end| format.format_range(time as i64, end as i64));
    if let Some(Some(range)) = &range {
        return shown(&ctx, &plain(range), parts, true);
    }
    shown(&ctx, &plain(&format.format(time as i64)), parts, range.is_some())
}

fn date_pattern<'js>(ctx: Ctx<'js>, formatter: Instance<'js>) -> Result<String> {
    match &*formatter.borrow() {
        Formatter::Date(format) => Ok(format.pattern().to_owned()),
        _ => Err(foreign(&ctx)),
    }
}

/// `plural(formatter, value, end) -> category`.
fn plural<'js>(ctx: Ctx<'js>, formatter: Instance<'js>, value: Value<'js>, end: Value<'js>) -> Result<&'static str> {
    let formatter = formatter.borrow();
    let Formatter::Plural(format, plurals) = &*formatter else { return Err(foreign(&ctx)) };
    let category =
        |value: &Value<'js>| -> Result<&'static str> { Ok(format.category(&decimal_of(&ctx, value)?, plurals)) };
    let first = category(&value)?;
    if end.is_undefined() { Ok(first) } else { Ok(plurals.range(first, category(&end)?)) }
}

fn plural_categories<'js>(ctx: Ctx<'js>, formatter: Instance<'js>) -> Result<String> {
    match &*formatter.borrow() {
        Formatter::Plural(_, plurals) => Ok(plurals.categories().join(" ")),
        _ => Err(foreign(&ctx)),
    }
}

/// `relative(formatter, value, unit, parts)`.
fn format_relative<'js>(
    ctx: Ctx<'js>,
    formatter: Instance<'js>,
    value: f64,
    unit: String,
    parts: bool,
) -> Result<Value<'js>> {
    let formatter = formatter.borrow();
    let Formatter::Relative(format) = &*formatter else { return Err(foreign(&ctx)) };
    shown(&ctx, &format.format(value, &unit), parts, false)
}

fn decimal_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Decimal> {
    if let Some(number) = value.as_number() {
        return Ok(Decimal::from_f64(number));
    }
    let Some(text) = value.as_string() else { return Ok(Decimal::from_f64(f64::NAN)) };
    let text = text.to_string()?;
    // A digit becomes a few bytes in the parts of the result.
    bytes::charge(ctx, text.len().saturating_mul(16))?;
    Ok(Decimal::parse(&text))
}

fn shown<'js>(ctx: &Ctx<'js>, result: &Parts, parts: bool, with_source: bool) -> Result<Value<'js>> {
    if !parts {
        return Ok(rquickjs::String::from_str(ctx.clone(), result.text())?.into_value());
    }
    Ok(rquickjs::String::from_str(ctx.clone(), &result.fields(with_source))?.into_value())
}

fn foreign(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_type(ctx, "Illegal invocation")
}
