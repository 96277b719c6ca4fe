//! N-best lists in the format of Moses: `number ||| translation ||| features ||| score`.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::line_reader::{LineError, name, read_each_line};

const SEPARATOR: &str = " ||| ";

/// Hypothesis of an n-best list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NBestEntry {
    /// Index of the sentence, from 0.
    pub sentence: usize,
    /// Translation.
    pub text: String,
    /// Names and values of the features.
    pub features: String,
    /// Fields after the score, such as word alignments.
    rest: Vec<String>,
}

impl NBestEntry {
    /// Reads an n-best list of `sentences` sentences, with a [`LineError`] in place of each line that is not UTF-8, has no
    /// number or translation, or belongs to a sentence that does not exist.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read_each(path: &Path, sentences: usize) -> Result<Vec<Result<Self>>> {
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(read_each_line(path)?) {
            entries.push(match line {
                Ok(line) => Self::parse(&line, sentences)
                    .map_err(|reason| LineError::new(format_args!("{}:{number}", name(path)), number, &reason).into()),
                Err(error) => Err(error),
            });
        }
        Ok(entries)
    }

    fn parse(line: &str, sentences: usize) -> Result<Self> {
        // The separators around an empty field may share a space.
        let mut fields = line.split("|||").map(str::trim);
        let number = fields.next().unwrap_or_default();
        let sentence = number.parse().ok().with_context(|| format!("\"{number}\" is not a sentence number"))?;
        let text = fields.next().context("no ||| in this line; expected: number ||| translation")?;
        ensure!(sentence < sentences, "no sentence {sentence}: there are {sentences}, counted from 0");
        let (third, score) = (fields.next().unwrap_or_default(), fields.next());
        // Without features the third field is the score.
        let is_score = score.is_none() && third.parse::<f64>().is_ok();
        let features = if is_score { "" } else { third };
        let rest = fields.map(str::to_owned).collect();
        Ok(Self { sentence, text: text.to_owned(), features: features.to_owned(), rest })
    }

    /// Returns the line with one more feature and a new score.
    pub fn line(&self, feature: &str, value: f64, score: f64) -> String {
        let added = format!("{feature}= {value:.4}");
        let features = if self.features.is_empty() { added } else { format!("{} {added}", self.features) };
        let fields = [self.sentence.to_string(), self.text.clone(), features, format!("{score:.4}")];
        fields.into_iter().chain(self.rest.iter().cloned()).collect::<Vec<_>>().join(SEPARATOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_lines_with_and_without_features() {
        for (line, sentence, text, features) in [
            ("2 ||| a b ||| LM= -3 TM= 1 ||| -0.5", 2, "a b", "LM= -3 TM= 1"),
            ("0 ||| a b ||| -0.5", 0, "a b", ""),
            ("0 |||  ||| x= 1", 0, "", "x= 1"),
            ("1 ||| a", 1, "a", ""),
        ] {
            let entry = NBestEntry::parse(line, 3).unwrap();
            assert_eq!((entry.sentence, entry.text.as_str(), entry.features.as_str()), (sentence, text, features));
        }
        for (line, message) in
            [("a ||| b", "not a sentence number"), ("3 ||| b", "there are 3"), ("1", "no |||"), ("", "")]
        {
            let error = NBestEntry::parse(line, 3).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn adds_feature_and_score() {
        for (line, expected) in [
            ("0 ||| a ||| LM= 1 ||| 3", "0 ||| a ||| LM= 1 softalign= -1.5000 ||| -0.2500"),
            ("0 ||| a", "0 ||| a ||| softalign= -1.5000 ||| -0.2500"),
            (
                "0 ||| a b ||| LM= -3 ||| -0.5 ||| 0-0 1-1",
                "0 ||| a b ||| LM= -3 softalign= -1.5000 ||| -0.2500 ||| 0-0 1-1",
            ),
            ("0 ||| a ||| -3.2 ||| -7", "0 ||| a ||| -3.2 softalign= -1.5000 ||| -0.2500"),
        ] {
            assert_eq!(NBestEntry::parse(line, 1).unwrap().line("softalign", -1.5, -0.25), expected);
        }
        let line = NBestEntry::parse("0 ||| a", 1).unwrap().line("softalign", -1.5, -0.25);
        assert_eq!(NBestEntry::parse(&line, 1).unwrap().features, "softalign= -1.5000");
    }
}
