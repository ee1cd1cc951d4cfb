//! Places that stacks name. A stack is a program's to replace, so it may be any text.

/// What is added to line numbers of the program before the engine sees them, and taken off before anybody else does: it
/// shows none below zero. Sources of all preludes together have far fewer lines.
const LINE_BASE: i32 = 1 << 28;

/// The lines of the module that a program becomes. The caller's imports stand first, then preludes, then the body, whose
/// lines alone have the caller's own numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// The body's first line, which is the last one of the imports if there are any.
    pub(super) body: i32,
    /// Lines of the module ahead of the body.
    pub(super) ahead: i32,
}

impl Lines {
    /// Those of a program with nothing ahead of it.
    pub(super) const NONE: Self = Self { body: 1, ahead: 0 };

    /// The number that the engine is given for a line.
    pub(super) fn engine(line: i32) -> i32 {
        line + LINE_BASE
    }

    /// The engine's number of the module's first line.
    pub(super) fn module(self) -> i32 {
        Self::engine(self.body - self.ahead)
    }

    /// The caller's own number of the engine's; below one for what is not the caller's.
    pub(super) fn callers(self, engine: i32) -> i32 {
        let line = engine - LINE_BASE;
        let of_module = line - (self.body - self.ahead) + 1;
        if line >= self.body {
            line
        } else if of_module <= self.body {
            of_module
        } else {
            line - self.body + 1
        }
    }
}

/// The part of a stack that is behind its first lines, which are the error as text. An error may have changed since its
/// stack was made: then it is what looks like frames.
pub(super) fn frames<'a>(stack: &'a str, name: &str, message: &str) -> &'a str {
    let text = [name, message].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    stack.strip_prefix(text.as_str()).or_else(|| stack.find("\n    at ").map(|at| &stack[at..])).unwrap_or_default()
}

/// The first place that a stack names in `file`, preludes not counted.
pub(super) fn position(stack: &str, file: &str) -> Option<(u32, u32)> {
    stack
        .lines()
        .find_map(|line| place_of(line, file).filter(|(at, _)| *at > 0))
        .and_then(|(line, column)| Some((u32::try_from(line).ok()?, u32::try_from(column).ok()?)))
}

/// The line and column in a stack's line, when it names `file`: as `at name (file:1:2)`, or as `at file:1:2`.
pub(super) fn place_of(line: &str, file: &str) -> Option<(i32, i32)> {
    let line = line.trim_end_matches(')');
    let numbers = line.rfind(file).map(|at| &line[at + file.len()..])?;
    let before = &line[..line.len() - numbers.len() - file.len()];
    if !before.ends_with('(') && before.trim() != "at" {
        return None;
    }
    let (line, column) = numbers.strip_prefix(':')?.rsplit_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "program.js";

    #[test]
    fn a_stack_is_read_without_the_lines_of_preludes() {
        let stack = "Error: at program.js:7:7\n    at helper (program.js:-4:3)\n    at map (native)\n    at program.js:1:1\n    at f (program.js:2:15)\n    at program.js:9:1";
        let frames = frames(stack, "Error", "at program.js:7:7");
        assert_eq!(position(frames, PROGRAM), Some((1, 1)));
        assert_eq!(position("    at map (native)", PROGRAM), None);
        assert_eq!(position("    at f (lib/program.js:7:1)\n    at my-program.js:8:1", PROGRAM), None);
    }

    #[test]
    fn lines_of_the_module_become_the_callers() {
        // Three lines of imports, the last of which the body begins on, a head, two of a prelude, and one more.
        let lines = Lines { body: 3, ahead: 7 };
        let module = |line: i32| lines.callers(lines.module() + line - 1);
        assert_eq!((1..=9).map(module).collect::<Vec<_>>(), [1, 2, 3, -3, -2, -1, 0, 3, 4]);
        assert_eq!(Lines::NONE.callers(Lines::engine(5)), 5);
    }

    #[test]
    fn frames_are_found_behind_whatever_the_error_has_become() {
        assert_eq!(frames("Error: a\n    at f (native)", "Error", "a"), "\n    at f (native)");
        assert_eq!(frames("Error: a\n    at f (native)", "Late", "b"), "\n    at f (native)");
        assert_eq!(frames("Error", "Error", ""), "");
        assert_eq!(frames("odd", "Error", ""), "");
    }
}
