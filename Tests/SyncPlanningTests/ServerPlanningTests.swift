import Testing

@testable import SyncPlanning

@Suite("A server")
struct ServerPlanningTests {
    private static let schema = SyncSchema([
        "Shelf": SyncEntity(["team": SyncProperty(), "name": SyncProperty()], scope: .property("team")),
        "Book": SyncEntity(
            [
                "title": SyncProperty(), "note": SyncProperty(rule: .closure),
                "shelf": SyncProperty(.reference(whenDeleted: .deleteToo), isRequired: true),
                "tag": SyncProperty(.reference(whenDeleted: .clear)),
            ], scope: .owner("shelf")),
        "Tag": SyncEntity(["name": SyncProperty()], uniques: [UniqueRule(["name"], whenTaken: .join)]),
        "Account": SyncEntity(
            ["code": SyncProperty()], uniques: [UniqueRule(["code"], whenTaken: .rename)], whenDeleted: .keepEdits),
        "Slot": SyncEntity(["place": SyncProperty()], uniques: [UniqueRule(["place"], whenTaken: .refuse)]),
    ])
    private static let red = SyncScope("red")

    /// A store in a dictionary, and what the last pushes have done to it.
    private struct Server {
        var rows: [RowID: RowFact] = [:]
        var history: [HistoryTransaction] = []
        var devices: [DeviceID: DeviceOnServer] = [:]
        var allowed: Set<SyncScope> = [red]
        var now: Int64 = 1000

        func moment(_ device: String) -> ServerMoment {
            ServerMoment(
                epochs: [Epoch(name: "life", shared: 0)], latest: history.last?.number ?? 0, oldest: 0,
                schemaVersion: 1, schema: schema, now: now, device: devices[DeviceID(device)] ?? DeviceOnServer(),
                granted: allowed)
        }

        mutating func greet(_ device: String) {
            let hello = HelloRequest(
                device: DeviceID(device), schemaVersion: 1, properties: schema.properties)
            if case .record(let record, _) = ServerPlanning.step(for: .hello(hello), at: moment(device)) {
                devices[DeviceID(device)] = record
            }
        }

        /// Pushes one transaction, and returns what was decided about it.
        @discardableResult
        mutating func push(
            _ device: String, at time: Int64, base: HistoryNumber? = nil, _ edits: [(RowID, RowChange.Edit)]
        ) -> PushOutcome? {
            if devices[DeviceID(device)] == nil { greet(device) }
            var transaction = OwnTransaction(
                number: UInt64(time), reading: ClockReading(boot: "", running: 0, wall: 0), changes: [])
            transaction.time = time
            for (place, edit) in edits.enumerated() {
                transaction.changes.append(
                    RowChange(
                        edit.0, base: base ?? history.last?.number ?? 0, edit.1,
                        origin: ChangeOrigin(transaction: UInt64(time), place: place)))
            }
            let request = PushRequest(
                device: DeviceID(device), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life",
                batch: (devices[DeviceID(device)]?.lastBatch ?? 0) + 1, transactions: [transaction])
            guard case .decided(let outcomes) = send(request) else { return nil }
            return outcomes.first
        }

        mutating func send(_ request: PushRequest) -> PushAnswer? {
            let moment = moment(request.device.name)
            switch ServerPlanning.step(for: .push(request), at: moment) {
            case .answer(.push(let answer)): return answer
            case .record(let record, .push(let answer)):
                devices[request.device] = record
                return answer
            case .apply: break
            default: return nil
            }
            var facts = RowFacts()
            while true {
                switch ServerPlanning.plan(request, at: moment, facts: facts) {
                case .needs(let questions):
                    for id in questions.rows { facts.rows[id] = rows[id] ?? .absent }
                    // More rows than asked for are allowed.
                    for id in questions.referrers { facts.referrers[id] = Set(rows.keys) }
                    for key in questions.holders { facts.holders[key] = Set(rows.keys) }
                case .done(let plan):
                    rows.merge(plan.rows) { $1 }
                    history += plan.history
                    devices[request.device] = plan.device
                    return plan.answer
                }
            }
        }

        subscript(_ entity: String, _ key: String) -> [String: SyncValue]? { rows[RowID(entity, key)]?.row?.values }
    }

    /// A server with a shelf and a book.
    private func library() -> Server {
        var server = Server()
        server.push("a", at: 1, [(RowID("Shelf", "s"), .insert(["team": "red"]))])
        server.push(
            "a", at: 2,
            [(RowID("Book", "b"), .insert(["title": "Emma", "note": "", "shelf": .reference(RowID("Shelf", "s"))]))])
        return server
    }

    private let book = RowID("Book", "b")

    private func update(_ property: String, from old: SyncValue, to new: SyncValue) -> RowChange.Edit {
        .update([property: ValueChange(old: old, new: new)])
    }

    @Test("lets the later edit of one property win, whichever arrives first")
    func laterEdit() {
        var server = library()
        server.push("a", at: 50, base: 2, [(book, update("title", from: "Emma", to: "late"))])
        server.push("b", at: 40, base: 2, [(book, update("title", from: "Emma", to: "early"))])
        #expect(server["Book", "b"]?["title"] == "late")
        server.push("b", at: 60, base: 2, [(book, update("title", from: "Emma", to: "latest"))])
        #expect(server["Book", "b"]?["title"] == "latest")
    }

    @Test("does not believe a time that has not come yet")
    func future() {
        var server = library()
        server.push("a", at: 5_000_000, base: 2, [(book, update("title", from: "Emma", to: "future"))])
        server.now = 2000
        server.push("b", at: 1500, base: 2, [(book, update("title", from: "Emma", to: "now"))])
        #expect(server["Book", "b"]?["title"] == "now")
    }

    @Test("takes a batch once, and answers the same when it comes again")
    func batchTwice() {
        var server = library()
        var transaction = OwnTransaction(
            number: 9, reading: ClockReading(boot: "", running: 0, wall: 0), changes: [])
        transaction.changes = [
            RowChange(
                book, base: 2, update("title", from: "Emma", to: "x"), origin: ChangeOrigin(transaction: 9, place: 0))
        ]
        let request = PushRequest(
            device: DeviceID("a"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", batch: 3,
            transactions: [transaction])
        let answer = server.send(request)
        #expect(answer == .decided([.taken(3, [])]))
        #expect(server.send(request) == answer)
        #expect(server.history.count == 3)
        var older = request
        older.batch = 2
        #expect(server.send(older) == .outdated)
    }

    @Test("decides about a batch of another life of the history once and for all")
    func otherLife() {
        var server = library()
        let request = PushRequest(
            device: DeviceID("a"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "former", batch: 3,
            transactions: [])
        #expect(server.send(request) == .notProcessed)
        var same = request
        same.epoch = "life"
        #expect(server.send(same) == .notProcessed)
    }

    @Test("joins equal rows of one identifier without a trace")
    func seeds() {
        var server = Server()
        server.push("a", at: 1, [(RowID("Slot", "1"), .insert(["place": "x"]))])
        let outcome = server.push("b", at: 2, base: 0, [(RowID("Slot", "1"), .insert(["place": "x"]))])
        #expect(outcome == .taken(1, []))
        #expect(server.history.count == 1)
    }

    @Test("lets a deletion win over an edit, and says so")
    func deletion() {
        var server = library()
        server.push("a", at: 10, [(book, .delete)])
        guard
            case .taken(_, let refused) = server.push(
                "b", at: 20, base: 2, [(book, update("title", from: "Emma", to: "x"))])
        else {
            Issue.record("The transaction was not taken.")
            return
        }
        #expect(refused.map(\.reason) == [.rowDeleted])
        #expect(server["Book", "b"] == nil)
    }

    @Test("lets a row live that was edited, where the schema keeps edits")
    func keptEdits() {
        var server = Server()
        let account = RowID("Account", "1")
        server.push("a", at: 1, [(account, .insert(["code": "x"]))])
        server.push("a", at: 2, [(account, .delete)])
        server.push("b", at: 3, base: 1, [(account, update("code", from: "x", to: "y"))])
        #expect(server["Account", "1"]?["code"] == "y")
        guard case .taken(_, let refused) = server.push("c", at: 4, base: 1, [(account, .delete)]) else { return }
        #expect(refused.map(\.reason) == [.rowEdited])
        #expect(server["Account", "1"] != nil)
    }

    @Test("makes one tag of eight, and all references follow")
    func eightTags() {
        var server = library()
        for number in 1...8 {
            let tag = RowID("Tag", "t\(number)")
            let outcome = server.push(
                "d\(number)", at: Int64(number) + 10, base: 2,
                [(tag, .insert(["name": "Family"])), (book, update("tag", from: .null, to: .reference(tag)))])
            guard case .taken(_, let refused) = outcome else {
                Issue.record("Device \(number) was refused: \(String(describing: outcome))")
                continue
            }
            #expect(refused.isEmpty)
        }
        let tags = server.rows.filter { $0.key.entity == "Tag" && $0.value.row != nil }
        #expect(tags.keys.map(\.key.string) == ["t1"])
        #expect(server["Book", "b"]?["tag"] == .reference(RowID("Tag", "t1")))
    }

    @Test("names the row whose unique value is taken, or asks for another value")
    func taken() {
        var server = Server()
        server.push(
            "a", at: 1,
            [(RowID("Slot", "1"), .insert(["place": "x"])), (RowID("Account", "1"), .insert(["code": "x"]))])
        #expect(
            server.push("b", at: 2, base: 0, [(RowID("Slot", "2"), .insert(["place": "x"]))])
                == .refused(.uniqueValueTaken(properties: ["place"], by: RowID("Slot", "1"))))
        #expect(
            server.push("b", at: 3, base: 0, [(RowID("Account", "2"), .insert(["code": "x"]))])
                == .conflict(RowID("Account", "2")))
    }

    @Test("clears an optional reference that leads nowhere, and refuses a required one")
    func missingReferences() {
        var server = library()
        let tag = RowID("Tag", "none")
        guard
            case .taken(_, let refused) = server.push(
                "b", at: 3, [(book, update("tag", from: .null, to: .reference(tag)))])
        else {
            Issue.record("The transaction was not taken.")
            return
        }
        #expect(refused.map(\.reason) == [.missingReference(property: "tag", tag)])
        let shelf = RowID("Shelf", "none")
        #expect(
            server.push("b", at: 4, [(RowID("Book", "c"), .insert(["shelf": .reference(shelf)]))])
                == .refused(.missingReference(property: "shelf", shelf)))
    }

    @Test("deletes what a deleted row owns, also rows that the device does not know")
    func ownedRows() {
        var server = library()
        server.push("b", at: 3, [(RowID("Shelf", "s"), .delete)])
        #expect(server["Book", "b"] == nil)
    }

    @Test("asks the device for its closure if both changed the same property, and joins others by itself")
    func closures() {
        var server = library()
        server.push("a", at: 3, base: 2, [(book, update("note", from: "", to: "mine"))])
        #expect(server.push("b", at: 4, base: 2, [(book, update("note", from: "", to: "yours"))]) == .conflict(book))
        #expect(
            server.push("b", at: 4, base: 2, [(book, update("title", from: "Emma", to: "Persuasion"))]) == .taken(4, [])
        )
        #expect(server["Book", "b"]?["note"] == "mine")
        #expect(server["Book", "b"]?["title"] == "Persuasion")
    }

    @Test("refuses writes outside the user's scopes, and does not send rows of others")
    func scopes() {
        var server = library()
        server.allowed = [SyncScope("blue")]
        #expect(
            server.push("b", at: 3, [(book, update("title", from: "Emma", to: "x"))])
                == .refused(.notAuthorized(Self.red)))
        server.greet("b")
        let request = PullRequest(
            device: DeviceID("b"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", after: 0,
            atLeast: 0, atMost: nil, scopes: [Self.red, SyncScope("blue")])
        let page = ServerPlanning.page(for: request, of: server.history, at: server.moment("b"), limit: 10)
        #expect(page.transactions.isEmpty)
        #expect(page.end == 2)
    }

    @Test("moves what a row owns with it into another scope")
    func movedOwner() {
        var server = library()
        server.allowed = [Self.red, SyncScope("blue")]
        server.push("a", at: 3, [(RowID("Shelf", "s"), update("team", from: "red", to: "blue"))])
        #expect(server.rows[book]?.row?.scope == SyncScope("blue"))
        server.greet("b")
        server.allowed = [Self.red]
        let request = PullRequest(
            device: DeviceID("b"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", after: 2,
            atLeast: 0, atMost: nil, scopes: [Self.red])
        let history = server.history.filter { $0.number > 2 }
        let page = ServerPlanning.page(for: request, of: history, at: server.moment("b"), limit: 10)
        #expect(Set(page.transactions.flatMap(\.changes)) == [.left(book), .left(RowID("Shelf", "s"))])
    }

    @Test("refuses what builds on a refused insertion, and takes the next transaction")
    func dependents() {
        var server = library()
        let slot = RowID("Slot", "2")
        server.push("a", at: 3, [(RowID("Slot", "1"), .insert(["place": "x"]))])
        func transaction(_ number: UInt64, _ id: RowID, _ edit: RowChange.Edit) -> OwnTransaction {
            OwnTransaction(
                number: number, reading: ClockReading(boot: "", running: 0, wall: 0),
                changes: [RowChange(id, base: 0, edit, origin: ChangeOrigin(transaction: number, place: 0))])
        }
        server.greet("b")
        let request = PushRequest(
            device: DeviceID("b"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", batch: 1,
            transactions: [
                transaction(1, slot, .insert(["place": "x"])),
                transaction(2, slot, update("place", from: "x", to: "y")),
                transaction(3, RowID("Slot", "3"), .insert(["place": "z"])),
            ])
        #expect(
            server.send(request)
                == .decided([
                    .refused(.uniqueValueTaken(properties: ["place"], by: RowID("Slot", "1"))),
                    .refused(.dependsOnRefused(slot)), .taken(4, []),
                ]))
    }

    @Test("begins a new life if a device knows more of this one than the server does, or something else")
    func restored() {
        var server = library()
        server.greet("a")
        func hello(_ epoch: String = "life", cursor: HistoryNumber = 2, time: Int64? = nil, answered: UInt64 = 2)
            -> ServerStep
        {
            var moment = server.moment("a")
            moment.timeAtCursor = cursor == 2 ? 1000 : nil
            return ServerPlanning.step(
                for: .hello(
                    HelloRequest(
                        device: DeviceID("a"), epoch: epoch, schemaVersion: 1, properties: Self.schema.properties,
                        cursor: cursor, cursorTime: time, lastAnswered: answered)), at: moment)
        }
        func isRenewed(_ step: ServerStep) -> Bool {
            guard case .renew(let epochs, _, .hello(let answer)) = step else { return false }
            return epochs.map(\.name) == ["life", "next"] && answer.epoch == "next" && answer.shared == 0
        }
        #expect(!isRenewed(hello()))
        #expect(!isRenewed(hello(time: 1000)))
        #expect(isRenewed(hello(cursor: 3)))
        #expect(isRenewed(hello(time: 999)))
        #expect(isRenewed(hello(answered: 3)))
        // A device of a former life gets to know this one first.
        #expect(!isRenewed(hello("former", cursor: 3, answered: 7)))
    }

    @Test("takes and sends nothing as long as a restored server has not been noticed")
    func unnoticed() {
        var server = library()
        server.greet("a")
        var push = PushRequest(
            device: DeviceID("a"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", batch: 9,
            transactions: [], answered: 8)
        func isGreeted(_ request: SyncRequest) -> Bool {
            var moment = server.moment("a")
            moment.timeAtCursor = 1000
            if case .answer(.greet) = ServerPlanning.step(for: request, at: moment) { return true }
            return false
        }
        #expect(isGreeted(.push(push)))
        push.answered = 2
        #expect(!isGreeted(.push(push)))
        var pull = PullRequest(
            device: DeviceID("a"), agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", after: 2,
            atLeast: 0, atMost: nil, scopes: [], afterTime: 999)
        #expect(isGreeted(.pull(pull)))
        pull.afterTime = 1000
        #expect(!isGreeted(.pull(pull)))
        // Nor anything after what this server has, whatever it says about times.
        pull.after = 3
        #expect(isGreeted(.pull(pull)))
        pull.afterTime = nil
        #expect(isGreeted(.pull(pull)))
    }
}
