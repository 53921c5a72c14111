/// Something that happens in a run. A step means something in every state, so that any part of a history is a history.
package enum Step: Hashable, Sendable, CustomStringConvertible {
    /// A program saves; the number says what.
    case save(Int, UInt64)
    /// A device does its next actions: one, or a few.
    case act(Int, Int)
    /// The network delivers, loses or doubles one of the messages that are on their way.
    case deliver(Int), lose(Int), double(Int)
    /// A device's messages arrive without a fault for some rounds.
    case sync(Int, Int)
    /// A wait ends, or a request has waited too long.
    case wake(Int), timeOut(Int)
    /// A device's process is killed, or its machine starts anew.
    case kill(Int), reboot(Int)
    /// Somebody sets a device's clock, in seconds.
    case setClock(Int, Int)
    /// A device's network goes away or comes back.
    case connect(Int, Bool)
    case killServer, migrateServer, trimHistory, backUp, restore
    /// A user gets a scope, or loses it.
    case grant(Int, String, Bool)
    case upgrade(Int)

    package var description: String {
        switch self {
        case .save(let device, let what): "device \(device) saves (\(what))"
        case .act(let device, let count): "device \(device) does \(count)"
        case .deliver(let message): "message \(message) arrives"
        case .lose(let message): "message \(message) is lost"
        case .double(let message): "message \(message) is doubled"
        case .sync(let device, let rounds): "device \(device) syncs for \(rounds) rounds"
        case .wake(let device): "device \(device) wakes"
        case .timeOut(let device): "device \(device) has waited too long"
        case .kill(let device): "device \(device) is killed"
        case .reboot(let device): "device \(device) starts anew"
        case .setClock(let device, let seconds): "device \(device)'s clock jumps by \(seconds) s"
        case .connect(let device, let isOn): "device \(device) \(isOn ? "has a network" : "loses its network")"
        case .killServer: "the server is killed"
        case .migrateServer: "the server gets the next version"
        case .trimHistory: "the server trims its history"
        case .backUp: "the server is backed up"
        case .restore: "the server is restored"
        case .grant(let device, let team, let isGranted): "device \(device) \(isGranted ? "gets" : "loses") \(team)"
        case .upgrade(let device): "device \(device) gets the next version"
        }
    }
}
