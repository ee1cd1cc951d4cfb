//! Text that is made of typed parts, as the `formatToParts` methods show it.

/// What one part of a text is; its name in JavaScript.
pub(super) type Kind = &'static str;

/// Plain text between the parts that mean something.
pub(super) const LITERAL: Kind = "literal";

/// A text and where its parts end.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    text: String,
    /// The kind of each part, where it came from in a range, and where it ends.
    ends: Vec<(Kind, Kind, usize)>,
}

impl Parts {
    /// Appends a part; an empty one is none, and literals that touch are one.
    pub(super) fn push(&mut self, kind: Kind, text: &str) {
        self.push_from(kind, SHARED, text);
    }

    fn push_from(&mut self, kind: Kind, source: Kind, text: &str) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let end = self.text.len();
        match self.ends.last_mut() {
            Some(last) if kind == LITERAL && last.0 == LITERAL && last.1 == source => last.2 = end,
            _ => self.ends.push((kind, source, end)),
        }
    }

    pub(super) fn append(&mut self, other: &Parts) {
        for (kind, source, text) in other.iter() {
            self.push_from(kind, source, text);
        }
    }

    /// Appends a part of a range: `source` is one of [`START`] and [`END`], or [`SHARED`].
    pub(super) fn append_from(&mut self, other: &Parts, source: Kind) {
        for (kind, _, text) in other.iter() {
            self.push_from(kind, source, text);
        }
    }

    /// The same, but text in front of the first field and behind the last one is of other sources.
    pub(super) fn append_fields_from(&mut self, other: &Parts, (before, source, behind): (Kind, Kind, Kind)) {
        let is_field = |(kind, ..): &(Kind, Kind, usize)| *kind != LITERAL;
        let first = other.ends.iter().position(is_field);
        let last = other.ends.iter().rposition(is_field);
        for (at, (kind, _, text)) in other.iter().enumerate() {
            let source = match () {
                () if first.is_none_or(|first| at < first) => before,
                () if last.is_none_or(|last| last < at) => behind,
                () => source,
            };
            self.push_from(kind, source, text);
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (Kind, Kind, &str)> {
        self.ends.iter().enumerate().map(|(at, (kind, source, end))| {
            let start = if at == 0 { 0 } else { self.ends[at - 1].2 };
            (*kind, *source, &self.text[start..*end])
        })
    }

    /// The same parts with another text for a character.
    pub(super) fn replaced(&self, character: char, with: &str) -> Parts {
        let mut parts = Parts::default();
        for (kind, source, text) in self.iter() {
            parts.push_from(kind, source, &text.replace(character, with));
        }
        parts
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// For scripts: kind, text, kind, text…, or with the source between them; NUL separates, which no table contains.
    pub(super) fn fields(&self, with_source: bool) -> String {
        let mut fields = String::with_capacity(self.text.len() * 2 + self.ends.len() * 16);
        for (kind, source, text) in self.iter() {
            let shown = if with_source { &[kind, source, text][..] } else { &[kind, text] };
            for field in shown {
                if !fields.is_empty() {
                    fields.push('\0');
                }
                fields.push_str(field);
            }
        }
        fields
    }
}

/// The source of a part in a range: of its start, of its end, or of both.
pub(super) const START: Kind = "startRange";
pub(super) const END: Kind = "endRange";
pub(super) const SHARED: Kind = "shared";

/// Pieces of a pattern with places: literal text and the numbers of places, as in `{0} of {1}`.
pub(super) fn placed(pattern: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        let open = rest.find('{');
        if let (Some(0), Some(end)) = (open, rest.find('}')) {
            let place = rest[1..end].parse().unwrap_or(0);
            rest = &rest[end + 1..];
            return Some(Piece::Place(place));
        }
        let end = open.filter(|at| *at > 0).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        rest = after;
        (!text.is_empty()).then_some(Piece::Text(text))
    })
}

/// One piece of such a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece<'p> {
    Text(&'p str),
    Place(usize),
}
