import SyncPlanning
import TestSupport

/// What a run is made of. The same parameters are the same run.
package struct Parameters: Hashable, Sendable {
    package var seed: UInt64
    package var devices = 3
    package var steps = 600
    package var sabotage: Sabotage?

    package init(seed: UInt64, devices: Int = 3, steps: Int = 600, sabotage: Sabotage? = nil) {
        self.seed = seed
        self.devices = devices
        self.steps = steps
        self.sabotage = sabotage
    }
}

/// What came of a run.
package struct RunResult: Sendable {
    package var violation: Violation?
    /// The sum of everything that happened.
    package var trace: UInt64
    package var tally: [String: Int]
    /// How many of the steps were done before the violation.
    package var done: Int
}

/// Devices, a server and a network in memory, driven by steps.
package struct Simulation {
    private var server: SimulatedServer
    private var devices: [SimulatedDevice]
    private var messages: [Message] = []
    private var now: Int64 = 1_700_000_000_000_000
    private var requests: UInt64 = 0
    private var random: SplitMix
    private var checks = Checks()
    private var trace = TraceSum()
    private var log: ((String) -> Void)?

    private struct Message {
        enum Content {
            case request(SyncRequest)
            case answer(SyncAnswer)
        }
        var device: Int
        var id: UInt64
        var content: Content
    }

    private init(_ parameters: Parameters) {
        var random = SplitMix(state: parameters.seed)
        server = SimulatedServer(
            schemaVersion: Int.random(in: 1...3, using: &random), sabotage: parameters.sabotage)
        devices = []
        for number in 0..<parameters.devices {
            let years = Int64.random(in: -2...2, using: &random) * 31_557_600_000_000
            devices.append(
                SimulatedDevice(
                    name: "d\(number)", version: Int.random(in: 1...3, using: &random),
                    skew: Bool.random(using: &random) ? years : 0, sabotage: parameters.sabotage))
            devices[number].booted = now - Int64.random(in: 0..<1_000_000_000, using: &random)
            server.granted[devices[number].id] = [SyncScope("red")]
            if Int.random(in: 0..<3, using: &random) > 0 {
                server.granted[devices[number].id]?.insert(SyncScope("blue"))
            }
        }
        self.random = random
    }

    /// The steps of a seed.
    package static func steps(of parameters: Parameters) -> [Step] {
        var random = SplitMix(state: parameters.seed ^ 0xA5A5_A5A5)
        var isBusy = false
        return (0..<parameters.steps).map { place in
            // Programs save for a while, mostly without a network, and then everything meets.
            if place % 30 == 0 { isBusy = Int.random(in: 0..<3, using: &random) > 0 }
            let device = Int.random(in: 0..<parameters.devices, using: &random)
            let number = Int.random(in: 0..<1000, using: &random)
            let team = Int.random(in: 0..<4, using: &random) > 0 ? "blue" : "red"
            if isBusy, number % 3 > 0 { return number % 3 == 1 ? .save(device, random.next()) : .act(device, 1) }
            switch Int.random(in: 0..<1000, using: &random) {
            case 0..<140: return .sync(device, 1 + number % 8)
            case 140..<350: return .act(device, 1 + number % 6)
            case 350..<640: return .deliver(number)
            case 640..<780: return .save(device, random.next())
            case 780..<880: return .wake(device)
            case 880..<890: return .timeOut(device)
            case 890..<905: return .lose(number)
            case 905..<925: return .double(number)
            case 925..<940: return .kill(device)
            case 940..<944: return .reboot(device)
            case 944..<948: return .setClock(device, Int.random(in: -100_000_000...100_000_000, using: &random))
            case 948..<960, 987..<1000: return .connect(device, number % 2 == 0)
            case 960..<963: return .killServer
            case 963..<966: return .migrateServer
            case 966..<969: return .trimHistory
            case 969..<972: return .backUp
            case 972..<975: return .restore
            case 975..<983: return .grant(device, team, number % 2 == 0)
            case 983..<987: return .upgrade(device)
            default: return .act(device, 4)
            }
        }
    }

    package static func run(_ parameters: Parameters) -> RunResult { run(parameters, steps: steps(of: parameters)) }

    /// Does the steps, lets everything become quiet, and checks.
    package static func run(
        _ parameters: Parameters, steps: [Step], log: ((String) -> Void)? = nil
    ) -> RunResult {
        var simulation = Simulation(parameters)
        simulation.log = log
        var done = 0
        var violation: Violation?
        do throws(Violation) {
            for step in steps {
                try simulation.take(step)
                done += 1
            }
            try simulation.becomeQuiet()
            for id in simulation.server.content.alive.keys { simulation.checks.count("rows at end: " + id.entity) }
            try simulation.checks.atEnd(simulation.devices, server: simulation.server)
        } catch { violation = error }
        for device in simulation.devices {
            simulation.trace.add(Rendering.text(of: device.shown))
            simulation.trace.add("\(device.journal.count) \(device.record.cursor) \(device.open.count)")
        }
        for transaction in simulation.server.content.history {
            simulation.trace.add("\(transaction.number) \(transaction.time) \(transaction.changes.count)")
        }
        simulation.trace.add(Rendering.text(of: simulation.server.content.alive))
        return RunResult(
            violation: violation, trace: simulation.trace.value, tally: simulation.checks.tally, done: done)
    }

    // MARK: Steps

    private mutating func take(_ step: Step) throws(Violation) {
        now += Int64.random(in: 1000...2_000_000, using: &random)
        trace.add("\(step)")
        log?("\(step)")
        switch step {
        case .trimHistory, .restore, .upgrade, .migrateServer, .grant, .killServer: checks.reasonsForDownloads += 1
        default: break
        }
        switch step {
        case .save(let device, let what): try save(on: device, what)
        case .act(let device, let count):
            for _ in 0..<count {
                try act(device)
                try checks.device(devices[device], server: server)
            }
        case .deliver(let number): try deliver(number)
        case .sync(let device, let rounds):
            for _ in 0..<rounds {
                try goOn(device)
                while devices[device].isOnline, let place = messages.firstIndex(where: { $0.device == device }) {
                    try deliver(place)
                }
            }
        case .lose(let number): if !messages.isEmpty { messages.remove(at: number % messages.count) }
        case .double(let number): if !messages.isEmpty { messages.append(messages[number % messages.count]) }
        case .wake(let device): if devices[device].isSleeping { devices[device].handle(.wake, now: now) }
        case .timeOut(let device): timeOut(device)
        case .kill(let device):
            checks.count("kills")
            devices[device].kill()
        case .reboot(let device):
            devices[device].kill()
            devices[device].boots += 1
            devices[device].booted = now
        case .setClock(let device, let seconds): devices[device].skew += Int64(seconds) * 1_000_000
        case .connect(let device, let isOn): devices[device].isOnline = isOn
        case .killServer: server.kill()
        case .migrateServer: server.migrate()
        case .trimHistory:
            server.trim()
        case .backUp: server.backup = server.content
        case .restore:
            checks.count("restored servers")
            server.restore()
        case .grant(let device, let team, let isGranted):
            let scope = SyncScope(team)
            if isGranted {
                server.granted[devices[device].id]?.insert(scope)
            } else {
                server.granted[devices[device].id]?.remove(scope)
            }
        case .upgrade(let device): devices[device].upgrade()
        }
        for device in devices { try checks.device(device, server: server) }
    }

    private mutating func act(_ number: Int) throws(Violation) {
        if devices[number].machine == nil {
            requests += 1000
            devices[number].start(firstRequest: requests, now: now)
            return
        }
        var device = devices[number]
        defer { devices[number] = device }
        guard let (id, request) = try device.runAction(now: now, checks: &checks) else { return }
        messages.append(Message(device: number, id: id, content: .request(request)))
    }

    private mutating func deliver(_ number: Int) throws(Violation) {
        guard !messages.isEmpty else { return }
        let place = number % messages.count
        let message = messages[place]
        guard devices[message.device].isOnline else { return }
        messages.remove(at: place)
        switch message.content {
        case .request(let request):
            log?("  d\(message.device) asks: \(request)")
            let answer = try server.answer(request, now: now, checks: &checks)
            messages.append(Message(device: message.device, id: message.id, content: .answer(answer)))
        case .answer(let answer):
            log?("  d\(message.device) hears: \(answer)")
            devices[message.device].handle(.answered(message.id, answer), now: now)
        }
    }

    private mutating func timeOut(_ number: Int) {
        guard let machine = devices[number].machine, devices[number].actions.isEmpty, !devices[number].isSleeping else {
            return
        }
        devices[number].handle(.failed(machine.awaited), now: now)
    }

    // MARK: Quiet

    /// Gives everybody a network and time, until nothing changes any more.
    private mutating func becomeQuiet() throws(Violation) {
        for number in devices.indices { devices[number].isOnline = true }
        var quietRounds = 0
        for _ in 0..<300 {
            let latest = server.content.latest
            for number in devices.indices {
                try goOn(number, updatesPrograms: true)
            }
            while !messages.isEmpty { try deliver(0) }
            let isQuiet =
                latest == server.content.latest
                && devices.allSatisfy { device in
                    device.record.cursor == latest && device.record.epoch == server.epochs.last?.name
                        && device.frozen == nil && device.record.download == nil
                        && device.record.scopes == server.granted[device.id]
                        && device.hasNothingToSend
                }
            quietRounds = isQuiet ? quietRounds + 1 : 0
            if quietRounds > 8 { return }
        }
        let states = devices.map { device in
            "\(device.id.name): \(device.machine.map { "\($0.state)" } ?? "off"), cursor \(device.record.cursor), \(device.open.count) unsent"
        }
        throw Violation(
            .doesNotStandStill,
            "Nothing became quiet: \(states.joined(separator: "; ")); server at \(server.content.latest).")
    }

    /// Does what a device has to do until it waits for an answer, and ends its waits.
    private mutating func goOn(_ number: Int, updatesPrograms: Bool = false) throws(Violation) {
        if devices[number].machine == nil { try act(number) }
        var steps = 0
        while !devices[number].actions.isEmpty, steps < 20 {
            now += 1000
            try act(number)
            steps += 1
            try checks.device(devices[number], server: server)
        }
        if updatesPrograms, devices[number].isSleeping, devices[number].machine?.state == .waitsForProgram {
            devices[number].upgrade()
        } else if devices[number].isSleeping {
            devices[number].handle(.wake, now: now)
        } else if devices[number].actions.isEmpty, !messages.contains(where: { $0.device == number }) {
            timeOut(number)
        }
    }

    // MARK: Programs

    private mutating func save(on number: Int, _ what: UInt64) throws(Violation) {
        var random = SplitMix(state: what)
        let program = Program(device: devices[number], random: random.next())
        let (edits, order) = program.edits()
        guard let transaction = devices[number].save(edits, order: order, now: now) else { return }
        log?("  \(transaction)")
        checks.saved(transaction, on: devices[number], now: now)
        checks.savedUpdates(transaction, on: devices[number].id)
        for change in transaction.changes {
            checks.count("save \(change.id.entity) " + String("\(change.edit)".prefix { $0 != "(" }))
        }
        for change in transaction.changes {
            if let title = change.newValues["title"] {
                checks.titleWriters[change.id, default: [:]][Rendering.text(of: title)] = (
                    devices[number].id, transaction.number
                )
            }
        }
        devices[number].handle(.saved, now: now)
    }
}
