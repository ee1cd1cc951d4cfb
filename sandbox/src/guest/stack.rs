//! Places that stacks name. A stack is a program's to replace, so it may be any text.

/// The part of a stack that is behind its first lines, which are the error as text. An error may have changed since its
/// stack was made: then it is what looks like frames.
pub(super) fn frames<'a>(stack: &'a str, name: &str, message: &str) -> &'a str {
    let text = [name, message].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    stack.strip_prefix(text.as_str()).or_else(|| stack.find("\n    at ").map(|at| &stack[at..])).unwrap_or_default()
}

/// The first place that a stack names in `file`, at or behind a line of it.
pub(super) fn position(stack: &str, file: &str, first_line: i32) -> Option<(u32, u32)> {
    stack.lines().find_map(|line| place_of(line, file).filter(|(at, _)| *at >= first_line)).and_then(
        |(line, column)| Some((u32::try_from(line).ok().filter(|line| *line > 0)?, u32::try_from(column).ok()?)),
    )
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
    fn a_stack_is_read_from_the_callers_first_line_on() {
        let stack = "Error: at program.js:7:7\n    at helper (program.js:-4:3)\n    at map (native)\n    at program.js:1:1\n    at f (program.js:2:15)\n    at program.js:9:1";
        let frames = frames(stack, "Error", "at program.js:7:7");
        assert_eq!(position(frames, PROGRAM, 1), Some((1, 1)));
        assert_eq!(position(frames, PROGRAM, 2), Some((2, 15)));
        assert_eq!(position(frames, PROGRAM, 3), Some((9, 1)));
        assert_eq!(position("    at map (native)", PROGRAM, 1), None);
        assert_eq!(position("    at f (lib/program.js:7:1)\n    at my-program.js:8:1", PROGRAM, 1), None);
    }

    #[test]
    fn frames_are_found_behind_whatever_the_error_has_become() {
        assert_eq!(frames("Error: a\n    at f (native)", "Error", "a"), "\n    at f (native)");
        assert_eq!(frames("Error: a\n    at f (native)", "Late", "b"), "\n    at f (native)");
        assert_eq!(frames("Error", "Error", ""), "");
        assert_eq!(frames("odd", "Error", ""), "");
    }
}
