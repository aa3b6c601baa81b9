// ControlClient
