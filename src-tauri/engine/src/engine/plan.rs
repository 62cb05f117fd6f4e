//! What a submission asks, and what it would come to.

mod calls;
mod known;

use std::collections::HashSet;

use super::Engine;
use super::endpoint::addressed;
use super::pilot::{chosen, size_of};
use crate::error::EngineError;
use crate::intake::KeptScan;
use crate::model::{
    Delivery, Finding, ModelNotice, ModelProfile, ProfileSource, Provider, RefusedFile, ScanId,
    ScannedFile, Sends, Settings, Submission, SubmissionPlan, TemplateKind, Variables,
};
use crate::parts::{Part, Question};
use crate::pdf::Measures;
use crate::pricing::{Ceiling, DocumentWork, Work, estimate};
use crate::reuse;
use crate::store::{NewInput, NewJob};
use crate::templates::Template;

pub(super) use calls::{Sum, calls, parts_of};

/// Most values of variables, and the longest of them in characters.
const MOST_VALUES: usize = 50;
const LONGEST_VALUE: usize = 2_000;

/// What the jobs of a submission ask.
pub(super) struct Asked {
    pub(super) template: Option<Template>,
    pub(super) provider: Provider,
    pub(super) model: String,
    /// How its jobs go, but for those of a pilot.
    pub(super) delivery: Delivery,
    pub(super) max_tokens: u32,
    pub(super) variables: Variables,
    /// What is sent of the documents.
    pub(super) sends: Sends,
    /// What one call to the model takes.
    pub(super) ceiling: Ceiling,
}

impl Engine {
    /// Says what a submission would come to: what is asked, what an earlier result serves for, and the
    /// price. Changes nothing.
    ///
    /// # Errors
    /// As [`Engine::submit_scan`].
    pub async fn plan_submission(
        &self,
        scan_id: ScanId,
        submission: Submission,
    ) -> Result<SubmissionPlan, EngineError> {
        let template = self.template(&submission.template).await?;
        let scan = self
            .0
            .scans
            .look_at(scan_id)
            .ok_or_else(|| EngineError::NotFound {
                what: "scan",
                name: scan_id.0.to_string(),
            })?;
        let asked = self.asked(&submission, Some(template)).await?;
        let (plan, _) = self.plan(&asked, &submission, &scan).await?;
        Ok(plan)
    }

    /// Makes sure that a submission can be worked on, and says what it asks.
    pub(super) async fn asked(
        &self,
        submission: &Submission,
        template: Option<Template>,
    ) -> Result<Asked, EngineError> {
        let settings = addressed(&self.0.config, self.0.store.settings().await?);
        let provider = submission.provider;
        if provider == Provider::Offline
            && template
                .as_ref()
                .is_some_and(|template| template.kind == TemplateKind::Fields)
        {
            return Err(EngineError::bad_input(
                "The offline summary picks sentences; it can’t fill in the fields of a template.",
                "Use Claude, or a template for prose.",
            ));
        }
        let model = match provider {
            Provider::Claude => submission
                .model
                .clone()
                .unwrap_or_else(|| settings.model.clone()),
            Provider::Offline => crate::provider::offline::METHOD.to_owned(),
        };
        let profile = self.model_profile(&model);
        if provider == Provider::Claude {
            can_be_cited(&settings, &profile, template.as_ref())?;
        }
        let sends = sends(&settings, &profile, template.as_ref());
        if provider == Provider::Claude && self.0.store.prices().await?.of(&model).is_none() {
            return Err(EngineError::bad_input(
                format!("Nobody knows what {model} costs, so no cap could hold."),
                format!(
                    "Set the price of {model} in the settings (Prices), or mark it as free there."
                ),
            ));
        }
        Ok(Asked {
            delivery: self.delivery_of(submission).await?,
            sends,
            template,
            provider,
            model,
            max_tokens: settings.max_tokens,
            ceiling: self.ceiling(&profile.model),
            variables: self.checked_variables(&submission.variables)?,
        })
    }

    /// Returns the values of variables as they are stored, with the day of the submission.
    fn checked_variables(&self, given: &Variables) -> Result<Variables, EngineError> {
        if given.len() > MOST_VALUES {
            return Err(EngineError::bad_input(
                format!("{} values were given for variables.", given.len()),
                format!("Give at most {MOST_VALUES}."),
            ));
        }
        let mut variables = Variables::new();
        for (name, value) in given {
            let characters = value.chars().count();
            if characters > LONGEST_VALUE {
                return Err(EngineError::bad_input(
                    format!("The value of {name} has {characters} characters."),
                    format!("Write at most {LONGEST_VALUE}, or put the text in the template."),
                ));
            }
            variables.insert(name.clone(), value.trim().to_owned());
        }
        // The day is part of the question: a job that runs after midnight still asks the same.
        variables.insert("today".to_owned(), self.local_time().day);
        Ok(variables)
    }

    /// Says what files would come to, and returns what becomes of each.
    pub(super) async fn plan(
        &self,
        asked: &Asked,
        submission: &Submission,
        scan: &KeptScan,
    ) -> Result<(SubmissionPlan, Vec<PlannedFile>), EngineError> {
        let files = &scan.report.files;
        let keys: Vec<Option<String>> = files
            .iter()
            .map(|file| key(asked, file).filter(|_| !submission.fresh))
            .collect();
        let answered: HashSet<String> = self
            .0
            .store
            .reusable(keys.iter().flatten().cloned().collect())
            .await?
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        let known = self.known(asked, files).await?;
        let mut plan = SubmissionPlan {
            estimates: known.estimates,
            model_notice: self.notice_for(asked),
            ..SubmissionPlan::default()
        };
        let prices = self.0.store.prices().await?;
        let minute = u64::from(self.0.store.settings().await?.tokens_per_minute);
        let question = question(asked);
        let mut sum = Sum::nothing();
        let mut priced = Vec::new();
        let mut planned = Vec::with_capacity(files.len());
        for (file, key) in files.iter().zip(keys) {
            let measures = scan.measures.get(&file.document.sha256);
            let to_ask = to_ask(asked, file, measures, &question, minute);
            let planned_file = match (key.filter(|key| answered.contains(key)), to_ask) {
                (Some(key), PlannedFile::Ask(parts)) => PlannedFile::Reuse(key, parts),
                (_, to_ask) => to_ask,
            };
            match &planned_file {
                PlannedFile::Refuse(finding) => {
                    plan.to_fail += 1;
                    if file.document.finding.is_none() {
                        plan.refused.push(RefusedFile {
                            path: file.path.clone(),
                            finding: finding.clone(),
                        });
                    }
                }
                PlannedFile::Reuse(..) => plan.reused += 1,
                PlannedFile::Ask(parts) => {
                    plan.to_run += 1;
                    plan.in_parts += u64::from(!parts.is_empty());
                    if asked.provider == Provider::Claude {
                        let calls = calls(file, parts, &question, &known.of(file));
                        plan.counted += u64::from(calls.iter().all(|call| call.is_counted));
                        let of = |delivery| {
                            let mut sum = Sum::nothing();
                            for call in &calls {
                                let compared = known.estimates.as_ref();
                                sum.add(call, &asked.model, delivery, &prices, compared);
                            }
                            sum
                        };
                        let (as_asked, as_pilot) = (of(asked.delivery), of(Delivery::Each));
                        sum.join(&as_asked);
                        priced.push(((as_asked, as_pilot), size_of(&calls)));
                    }
                }
            }
            planned.push(planned_file);
        }
        comes_to(&mut plan, &sum);
        if asked.delivery == Delivery::Batch
            && let Some(wanted) = submission.pilot
        {
            // Its files are asked call by call, at the whole price.
            for (as_asked, as_pilot) in chosen(priced, wanted) {
                let more = |sum: Option<i64>, whole: Option<i64>, half: Option<i64>| {
                    sum?.checked_add(whole?.checked_sub(half?)?)
                };
                plan.expected_micros = more(
                    plan.expected_micros,
                    as_pilot.expected_micros,
                    as_asked.expected_micros,
                );
                plan.at_worst_micros = more(
                    plan.at_worst_micros,
                    as_pilot.at_worst_micros,
                    as_asked.at_worst_micros,
                );
            }
        }
        Ok((plan, planned))
    }

    /// Returns what should be known of the end of the model that is asked for.
    fn notice_for(&self, asked: &Asked) -> Option<ModelNotice> {
        match asked.provider {
            Provider::Claude => self.model_notice(&asked.model),
            Provider::Offline => None,
        }
    }

    /// Says what a prompt would come to.
    pub(super) async fn plan_of_prompt(
        &self,
        asked: &Asked,
        job: &NewJob,
    ) -> Result<SubmissionPlan, EngineError> {
        let mut plan = SubmissionPlan {
            to_run: 1,
            model_notice: self.notice_for(asked),
            ..SubmissionPlan::default()
        };
        let mut sum = Sum::nothing();
        if let NewInput::Prompt(prompt) = &job.input
            && asked.provider == Provider::Claude
        {
            let work = Work {
                document: None,
                prompt_bytes: prompt.len() as u64,
                prompt_characters: prompt.chars().count() as u64,
                max_tokens: asked.max_tokens,
            };
            let prices = self.0.store.prices().await?;
            let known = self.known(asked, &[]).await?;
            sum.add(
                &estimate(&asked.model, &work).expecting(known.output()),
                &asked.model,
                asked.delivery,
                &prices,
                plan.estimates.as_ref(),
            );
        }
        comes_to(&mut plan, &sum);
        Ok(plan)
    }
}

fn comes_to(plan: &mut SubmissionPlan, sum: &Sum) {
    plan.calls = sum.calls;
    plan.input_tokens = sum.input_tokens;
    plan.expected_micros = sum.expected_micros;
    plan.at_worst_micros = sum.at_worst_micros;
}

/// Makes sure that pages can be cited where a template wants them to be.
pub(super) fn can_be_cited(
    settings: &Settings,
    profile: &ModelProfile,
    template: Option<&Template>,
) -> Result<(), EngineError> {
    let wanted = template.is_some_and(|template| template.kind == TemplateKind::CitedProse);
    if wanted && profile.source == ProfileSource::Told && !profile.citations {
        return Err(EngineError::bad_input(
            format!(
                "{} can’t name the pages that an answer comes from.",
                profile.model
            ),
            "Use a template without page references, or another model.",
        ));
    }
    match &settings.base_url {
        Some(address) if settings.text_only && wanted => Err(EngineError::bad_input(
            format!(
                "{address} is sent the text of PDFs as a part of the prompt, in which no pages can be cited."
            ),
            "Use a template without page references, or ask at an address that reads PDFs.",
        )),
        _ => Ok(()),
    }
}

/// Returns what is sent of documents: their text where the template wants it so, or the address or the model takes
/// no PDFs.
pub(super) fn sends(
    settings: &Settings,
    profile: &ModelProfile,
    template: Option<&Template>,
) -> Sends {
    if settings.text_only || profile.pdf_pages == 0 {
        Sends::Text
    } else {
        template.map_or(Sends::Pdf, |template| template.sends)
    }
}

/// Returns what a call about a file works on.
pub(super) fn document_work(file: &ScannedFile, sends: Sends) -> DocumentWork {
    DocumentWork {
        sends,
        pages: file.document.pages,
        text: file
            .document
            .facts
            .text
            .map(|layer| layer.work(file.document.pages)),
    }
}

/// What becomes of a file that is submitted.
pub(super) enum PlannedFile {
    /// It can't be summarized.
    Refuse(Finding),
    /// An earlier result serves again, found by this digest; these are its parts if that is gone when it is
    /// wanted.
    Reuse(String, Vec<Part>),
    /// It is asked, in these parts; as a whole where there are none.
    Ask(Vec<Part>),
}

/// Says whether a file can be asked about, and in which parts.
fn to_ask(
    asked: &Asked,
    file: &ScannedFile,
    measures: Option<&Measures>,
    question: &Question<'_>,
    minute: u64,
) -> PlannedFile {
    if let Some(finding) = &file.document.finding {
        return PlannedFile::Refuse(finding.clone());
    }
    if asked.provider == Provider::Offline {
        return PlannedFile::Ask(Vec::new());
    }
    match parts_of(file, measures, question, minute) {
        Ok(parts) => PlannedFile::Ask(parts),
        Err(finding) => PlannedFile::Refuse(finding),
    }
}

pub(super) fn question(asked: &Asked) -> Question<'_> {
    let body = asked
        .template
        .as_ref()
        .map_or("", |template| template.body.as_str());
    Question {
        model: &asked.model,
        sends: asked.sends,
        prompt_bytes: body.len() as u64,
        prompt_characters: body.chars().count() as u64,
        max_tokens: asked.max_tokens,
        ceiling: asked.ceiling,
    }
}

/// Returns the digest of what is asked of a file; `None` where no earlier result can serve.
fn key(asked: &Asked, file: &ScannedFile) -> Option<String> {
    if file.document.finding.is_some() || file.document.sha256.as_str().is_empty() {
        return None;
    }
    let values = reuse::values(&asked.variables, &file.name, file.document.pages);
    reuse::key(&reuse::Asked {
        document_sha256: file.document.sha256.as_str(),
        template: asked.template.as_ref()?,
        provider: asked.provider,
        model: &asked.model,
        sends: asked.sends,
        values: &values,
    })
}
