//! The shell's commands over a real engine in a folder of its own, without a window.

use std::sync::Arc;

use gistmill_engine::pdf::PdfWorkerConfig;
use gistmill_engine::secrets::MemorySecrets;
use gistmill_engine::{Engine, EngineConfig};
use serde_json::Value;
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{
    INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder, mock_context, noop_assets,
};
use tauri::webview::InvokeRequest;
use tauri::{App, Manager as _, WebviewWindow, WebviewWindowBuilder};
use tempfile::TempDir;

pub(crate) struct Shell {
    // Field order is drop order: the engine has to let go of its files before they are removed.
    window: WebviewWindow<MockRuntime>,
    _app: App<MockRuntime>,
    pub(crate) folder: TempDir,
}

impl Shell {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut worker = PdfWorkerConfig::new(env!("CARGO_BIN_EXE_gistmill-desktop"));
        worker.args = vec!["--pdf-worker".into()];
        let mut config = EngineConfig::new(&folder.path().join("data"), worker);
        config.secrets = Arc::new(MemorySecrets::default());
        // Nobody listens there: a test that asks Claude by mistake fails, and fast.
        config.environment_base_url = Some("http://127.0.0.1:9".to_owned());
        let engine = tauri::async_runtime::block_on(Engine::open(config)).expect("engine opens");

        let app = gistmill_desktop::configure(mock_builder())
            .build(mock_context(noop_assets()))
            .unwrap();
        app.manage(engine);
        let window = WebviewWindowBuilder::new(&app, "main", tauri::WebviewUrl::default())
            .build()
            .unwrap();
        Self {
            window,
            _app: app,
            folder,
        }
    }

    /// Calls a command as the page does.
    pub(crate) fn call(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        let address = if cfg!(windows) {
            "http://tauri.localhost"
        } else {
            "tauri://localhost"
        };
        get_ipc_response(
            &self.window,
            InvokeRequest {
                cmd: command.to_owned(),
                callback: CallbackFn(0),
                error: CallbackFn(1),
                url: address.parse().unwrap(),
                body: InvokeBody::Json(arguments),
                headers: tauri::http::HeaderMap::default(),
                invoke_key: INVOKE_KEY.to_owned(),
            },
        )
        .map(|body| body.deserialize().unwrap())
    }
}
