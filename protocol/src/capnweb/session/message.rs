//! Which messages there are.

use super::plan::Expr;
use crate::capnweb::decode::Decoder;
use crate::capnweb::expression::DecodeError;

/// One message of the peer. Ids are named from its point of view.
pub(crate) enum Message {
    Push(Expr),
    Stream(Expr),
    Pipe,
    Pull(i64),
    Resolve(i64, Expr),
    Reject(i64, Expr),
    Release(i64, u64),
    Abort(Expr),
}

/// Reads one message. Operands beyond the known ones are ignored, as JavaScript does.
pub(crate) fn decode(decoder: &mut Decoder<'_, '_>) -> Result<Message, DecodeError> {
    const NO_OPERAND: &str = "an operand of the message is missing";
    decoder.reader().expect(b'[', "a message is an array")?;
    if decoder.reader().peek() != Some(b'"') {
        return Err(decoder.reader().unexpected("a message starts with its kind"));
    }
    let kind = decoder.reader().raw_string()?.text;
    let message = match kind {
        "push" => {
            decoder.reader().expect(b',', NO_OPERAND)?;
            Message::Push(decoder.expr()?)
        }
        "stream" => {
            decoder.reader().expect(b',', NO_OPERAND)?;
            Message::Stream(decoder.expr()?)
        }
        "pipe" => Message::Pipe,
        "pull" => {
            decoder.reader().expect(b',', NO_OPERAND)?;
            Message::Pull(decoder.reader().integer()?)
        }
        "resolve" | "reject" => {
            decoder.reader().expect(b',', NO_OPERAND)?;
            let id = decoder.reader().integer()?;
            decoder.reader().expect(b',', NO_OPERAND)?;
            let expr = decoder.expr()?;
            if kind == "resolve" { Message::Resolve(id, expr) } else { Message::Reject(id, expr) }
        }
        "release" => {
            decoder.reader().expect(b',', NO_OPERAND)?;
            let id = decoder.reader().integer()?;
            decoder.reader().expect(b',', NO_OPERAND)?;
            let count = decoder.reader().integer()?;
            let count = u64::try_from(count).ok().filter(|count| *count > 0);
            Message::Release(id, count.ok_or_else(|| decoder.reader().expression("a release of less than one"))?)
        }
        // A peer that has nothing to say is leaving all the same.
        "abort" if decoder.reader().peek() == Some(b']') => Message::Abort(Expr::default()),
        "abort" => {
            decoder.reader().expect(b',', NO_OPERAND)?;
            Message::Abort(decoder.expr()?)
        }
        _ => return Err(decoder.reader().expression("unknown kind of message")),
    };
    let reader = decoder.reader();
    while reader.more(b']')? {
        reader.skip_value()?;
    }
    reader.finish()?;
    Ok(message)
}
