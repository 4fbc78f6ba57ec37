//! Results as immutable records of Python: they can be compared, hashed, pickled, and put into a DataFrame.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Defines a class with these fields, and which of them its `repr` shows. Those after `beside` say how a result was
/// found: two results may differ in them and be equal.
macro_rules! record {
    (
        $(#[$about:meta])*
        $name:ident($($shown:ident),+) {
            $($(#[$meaning:meta])* $field:ident: $type:ty,)*
        } $(beside {
            $($(#[$how:meta])* $beside:ident: $kind:ty,)*
        })?
    ) => {
        $(#[$about])*
        #[pyo3::pyclass(frozen, get_all, eq, from_py_object, module = "queenfold")]
        #[derive(Clone)]
        pub struct $name {
            $($(#[$meaning])* pub $field: $type,)*
            $($($(#[$how])* pub $beside: $kind,)*)?
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                true $(&& self.$field == other.$field)*
            }
        }

        #[pyo3::pymethods]
        impl $name {
            fn __repr__(this: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<String> {
                $crate::records::shown(this.as_any(), stringify!($name), &[$(stringify!($shown)),+])
            }

            fn __hash__(this: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<isize> {
                use pyo3::types::PyAnyMethods;
                $crate::records::fields(this.as_any(), &[$(stringify!($field)),*])?.repr()?.hash()
            }

            /// The fields by name, for a DataFrame from a list of them.
            #[pyo3(name = "_asdict")]
            fn as_dict<'py>(
                this: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyDict>> {
                $crate::records::fields(this.as_any(), &[$(stringify!($field),)* $($(stringify!($beside),)*)?])
            }

            /// The record with these fields: what pickle calls, so that results pass between processes.
            #[staticmethod]
            fn _from_dict(fields: &pyo3::Bound<'_, pyo3::types::PyDict>) -> pyo3::PyResult<Self> {
                use pyo3::types::PyAnyMethods;
                let fields = fields.as_any();
                Ok(Self {
                    $($field: fields.get_item(stringify!($field))?.extract()?,)*
                    $($($beside: fields.get_item(stringify!($beside))?.extract()?,)*)?
                })
            }

            fn __reduce__<'py>(
                this: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<(
                pyo3::Bound<'py, pyo3::PyAny>,
                (pyo3::Bound<'py, pyo3::types::PyDict>,),
            )> {
                use pyo3::types::PyAnyMethods;
                let make = this.get_type().getattr("_from_dict")?;
                Ok((make, (Self::as_dict(this)?,)))
            }
        }
    };
}
pub(crate) use record;

/// `Name(field=value, …)`.
pub fn shown(record: &Bound<'_, PyAny>, name: &str, fields: &[&str]) -> PyResult<String> {
    let fields = fields.iter().map(|field| {
        let value = record.getattr(*field)?.repr()?;
        Ok(format!("{field}={value}"))
    });
    let fields = fields.collect::<PyResult<Vec<_>>>()?;
    Ok(format!("{name}({})", fields.join(", ")))
}

/// A dict of these fields.
pub fn fields<'py>(record: &Bound<'py, PyAny>, names: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(record.py());
    for name in names {
        fields.set_item(name, record.getattr(*name)?)?;
    }
    Ok(fields)
}
