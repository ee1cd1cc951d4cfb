//! Ranges of numbers: what both ends share is written once when it is a word, and at each end when it is a sign.

use super::super::decimal::Decimal;
use super::super::parts::{END, LITERAL, Parts, Piece, SHARED, START, placed};
use super::{Layers, NumberFormat};

impl NumberFormat {
    /// A range, or what is near to both ends when they look the same.
    pub(in super::super) fn format_range(&self, start: &Decimal, end: &Decimal) -> Parts {
        let (first, second) = (self.layers(start, false), self.layers(end, false));
        if first.parts().text() == second.parts().text() {
            return self.layers(start, true).parts();
        }
        // The same unit or currency is named once, in the plural form of the range.
        let category = self.plurals.range(first.category, second.category);
        let names = self.names(category).filter(|names| length(names) > 0);
        let share_names = names.is_some() || same(&first.names, &second.names);
        let names = names.unwrap_or_default();
        let share_affixes = share_names && same(&first.affixes, &second.affixes) && length(&first.affixes) > 1;
        let repeats = !first.exponent.is_empty()
            || !share_affixes && length(&first.affixes) > 0
            || !share_names && length(&first.names) > 0;

        let own = |layers: &Layers| {
            let mut parts = Parts::default();
            let shown = |show: bool, part: &Parts, parts: &mut Parts| {
                if show {
                    parts.append(part)
                }
            };
            shown(!share_names, &layers.names.0, &mut parts);
            shown(!share_affixes, &layers.affixes.0, &mut parts);
            parts.append(&layers.number);
            parts.append(&layers.exponent);
            shown(!share_affixes, &layers.affixes.1, &mut parts);
            shown(!share_names, &layers.names.1, &mut parts);
            parts
        };
        let mut range = Parts::default();
        if share_names {
            range.append(&names.0);
        }
        if share_affixes {
            range.append(&first.affixes.0);
        }
        for piece in placed(self.options.locale.text(&format!("{}.range", self.symbols.key))) {
            match piece {
                Piece::Place(0) => range.append_fields_from(&own(&first), (START, START, SHARED)),
                Piece::Place(_) => range.append_fields_from(&own(&second), (SHARED, END, END)),
                Piece::Text(text) if repeats && text.trim() == text => range.push(LITERAL, &format!(" {text} ")),
                Piece::Text(text) => range.push(LITERAL, text),
            }
        }
        if share_affixes {
            range.append(&second.affixes.1);
        }
        if share_names {
            range.append(&names.1);
        }
        range
    }
}

/// Whether both have the same words and signs: the space to the digits is not there where there are none.
fn same(first: &(Parts, Parts), second: &(Parts, Parts)) -> bool {
    first.0.text().trim_end() == second.0.text().trim_end()
        && first.1.text().trim_start() == second.1.text().trim_start()
}

fn length(sides: &(Parts, Parts)) -> usize {
    sides.0.text().chars().count() + sides.1.text().chars().count()
}
