// ControlInterface
