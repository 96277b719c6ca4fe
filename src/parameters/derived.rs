//! Values computed from parameters that do not change.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type ValuesByName = HashMap<String, Arc<dyn Any + Send + Sync>>;

/// Computed values by name, such as packed weights, kept for later calls.
#[derive(Default)]
pub struct DerivedValues(Mutex<ValuesByName>);

impl DerivedValues {
    /// Returns the value with this name, computed on first use.
    pub(super) fn get<T: Any + Send + Sync>(&self, name: String, compute: impl FnOnce() -> T) -> Arc<T> {
        let known = self.lock().get(&name).cloned().and_then(|value| value.downcast().ok());
        // Without the lock, since `compute` may wait for other threads. If two of them compute the value, it is the same.
        known.unwrap_or_else(|| {
            let value = Arc::new(compute());
            self.lock().insert(name, Arc::clone(&value) as _);
            value
        })
    }

    fn lock(&self) -> MutexGuard<'_, ValuesByName> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for DerivedValues {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("DerivedValues")
    }
}
