//! Lists of hypotheses in the format of Moses: `number ||| translation ||| features ||| score`.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::line_reader::{name, read_lines};

/// What stands between the fields of a line.
const BETWEEN: &str = " ||| ";

/// One of a sentence's translations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NBestEntry {
    /// The sentence's number, from 0.
    pub sentence: usize,
    /// The translation.
    pub text: String,
    /// What others think of it: names and values.
    pub features: String,
    /// What follows the score, as links of words.
    rest: Vec<String>,
}

impl NBestEntry {
    /// Reads a list about so many sentences.
    ///
    /// # Errors
    /// The file cannot be read, or a line has no number or translation, or there is no such sentence; with its number.
    pub fn read_all(path: &Path, sentences: usize) -> Result<Vec<Self>> {
        let lines = read_lines(path)?;
        let read = |(index, line): (usize, &String)| {
            Self::read(line, sentences).with_context(|| format!("{}:{}", name(path), index + 1))
        };
        lines.iter().enumerate().map(read).collect()
    }

    fn read(line: &str, sentences: usize) -> Result<Self> {
        // An empty field leaves two marks with one space between them.
        let mut fields = line.split("|||").map(str::trim);
        let number = fields.next().unwrap_or_default();
        let sentence = number.parse().ok().with_context(|| format!("{number:?} is no sentence's number"))?;
        let text = fields.next().context("no ||| in this line; a hypothesis is written: number ||| translation")?;
        ensure!(sentence < sentences, "no sentence {sentence}: there are {sentences}, counted from 0");
        let (third, score) = (fields.next().unwrap_or_default(), fields.next());
        // The score of a list that has no features is no feature.
        let is_score = score.is_none() && third.parse::<f64>().is_ok();
        let features = if is_score { "" } else { third };
        let rest = fields.map(str::to_owned).collect();
        Ok(Self { sentence, text: text.to_owned(), features: features.to_owned(), rest })
    }

    /// The line of one that has one more feature, and a score.
    pub fn line(&self, feature: (&str, f64), score: f64) -> String {
        let added = format!("{}= {:.4}", feature.0, feature.1);
        let features = if self.features.is_empty() { added } else { format!("{} {added}", self.features) };
        let fields = [self.sentence.to_string(), self.text.clone(), features, format!("{score:.4}")];
        fields.into_iter().chain(self.rest.iter().cloned()).collect::<Vec<_>>().join(BETWEEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_kinds_are_read() {
        let read = |line: &str| {
            let read = NBestEntry::read(line, 3).unwrap();
            (read.sentence, read.text, read.features)
        };
        assert_eq!(read("2 ||| a b ||| LM= -3 TM= 1 ||| -0.5"), (2, "a b".into(), "LM= -3 TM= 1".into()));
        assert_eq!(read("0 ||| a b ||| -0.5"), (0, "a b".into(), String::new()));
        assert_eq!(read("0 |||  ||| x= 1"), (0, String::new(), "x= 1".into()));
        assert_eq!(read("1 ||| a"), (1, "a".into(), String::new()));
        for (line, message) in
            [("a ||| b", "no sentence's number"), ("3 ||| b", "there are 3"), ("1", "no |||"), ("", "")]
        {
            let error = NBestEntry::read(line, 3).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_feature_is_added() {
        let line = |text: &str| NBestEntry::read(text, 1).unwrap().line(("softalign", -1.5), -0.25);
        assert_eq!(line("0 ||| a ||| LM= 1 ||| 3"), "0 ||| a ||| LM= 1 softalign= -1.5000 ||| -0.2500");
        assert_eq!(line("0 ||| a"), "0 ||| a ||| softalign= -1.5000 ||| -0.2500");
        let linked = line("0 ||| a b ||| LM= -3 ||| -0.5 ||| 0-0 1-1");
        assert_eq!(linked, "0 ||| a b ||| LM= -3 softalign= -1.5000 ||| -0.2500 ||| 0-0 1-1");
        assert_eq!(line("0 ||| a ||| -3.2 ||| -7"), "0 ||| a ||| -3.2 softalign= -1.5000 ||| -0.2500");
        assert_eq!(NBestEntry::read(&line("0 ||| a"), 1).unwrap().features, "softalign= -1.5000");
    }
}
