//! Reads the records that the scripts make of a program's options, which they have checked.

use rquickjs::{Ctx, Exception, FromJs, Object, Result};

use super::data::Locale;
use super::decimal::Rounding;
use super::number::{Display, Grouping, Notation, Options as NumberOptions, Precision, Priority, SignDisplay, Style};
use super::{date, locale_of};

/// The options of a number format.
pub(super) fn number<'js>(ctx: &Ctx<'js>, record: &Object<'js>) -> Result<NumberOptions> {
    let text = |name: &str| field::<String>(record, name);
    let count = |name: &str| field::<f64>(record, name).map(|value| value as usize);
    let (tag, locale) = located(ctx, record)?;
    let style = match text("style")?.as_str() {
        "percent" => Style::Percent,
        "currency" => Style::Currency {
            code: text("currency")?,
            display: match text("currencyDisplay")?.as_str() {
                "narrowSymbol" => Display::Narrow,
                "code" => Display::Code,
                "name" => Display::Name,
                _ => Display::Symbol,
            },
            accounting: text("currencySign")? == "accounting",
        },
        "unit" => Style::Unit { unit: text("unit")?, width: text("unitDisplay")? },
        _ => Style::Decimal,
    };
    let precision = Precision {
        whole: count("minimumIntegerDigits")?,
        fraction: (count("minimumFractionDigits")?, count("maximumFractionDigits")?),
        significant: (count("minimumSignificantDigits")?, count("maximumSignificantDigits")?),
        priority: match text("priority")?.as_str() {
            "significant" => Priority::Significant,
            "morePrecision" => Priority::MorePrecision,
            "lessPrecision" => Priority::LessPrecision,
            _ => Priority::Fraction,
        },
        increment: count("roundingIncrement")? as u32,
        mode: Rounding::named(&text("roundingMode")?),
        strip: text("trailingZeroDisplay")? == "stripIfInteger",
    };
    Ok(NumberOptions {
        locale,
        tag,
        system: text("numberingSystem")?,
        style,
        notation: match (text("notation")?.as_str(), text("compactDisplay")?.as_str()) {
            ("scientific", _) => Notation::Scientific,
            ("engineering", _) => Notation::Engineering,
            ("compact", "long") => Notation::CompactLong,
            ("compact", _) => Notation::CompactShort,
            _ => Notation::Standard,
        },
        grouping: match text("useGrouping")?.as_str() {
            "always" => Grouping::Always,
            "min2" => Grouping::Min2,
            "auto" => Grouping::Auto,
            _ => Grouping::Never,
        },
        sign: match text("signDisplay")?.as_str() {
            "never" => SignDisplay::Never,
            "always" => SignDisplay::Always,
            "exceptZero" => SignDisplay::ExceptZero,
            "negative" => SignDisplay::Negative,
            _ => SignDisplay::Auto,
        },
        precision,
    })
}

/// The options of a date format.
pub(super) fn date<'js>(ctx: &Ctx<'js>, record: &Object<'js>) -> Result<date::Options> {
    let text = |name: &str| field::<String>(record, name);
    let (tag, locale) = located(ctx, record)?;
    let zone = date::Zone::named(&text("timeZone")?);
    let Some(zone) = zone else { return Err(Exception::throw_range(ctx, "Invalid time zone specified")) };
    let style = |name: &str| field::<Option<String>>(record, name);
    let (date_style, time_style) = (style("dateStyle")?, style("timeStyle")?);
    let fields = match (&date_style, &time_style) {
        (None, None) => date::Fields::Skeleton(text("skeleton")?),
        _ => date::Fields::Styles { date: date_style, time: time_style },
    };
    Ok(date::Options {
        locale,
        tag,
        system: text("numberingSystem")?,
        zone,
        hour: text("hour")?.chars().next(),
        fields,
    })
}

fn located<'js>(ctx: &Ctx<'js>, record: &Object<'js>) -> Result<(String, Locale)> {
    let tag: String = field(record, "dataLocale")?;
    match locale_of(&tag) {
        Some(locale) => Ok((tag, locale)),
        None => Err(Exception::throw_range(ctx, "Incorrect locale information provided")),
    }
}

/// Records have no prototype, so this runs no getter of a program's.
fn field<'js, T: FromJs<'js>>(record: &Object<'js>, name: &str) -> Result<T> {
    record.get(name)
}
