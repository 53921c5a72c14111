import Synchronization
import Testing

@testable import SyncPlanning

@Suite("A rebase")
struct RebasingTests {
    private static let schema = SyncSchema([
        "Book": SyncEntity(["title": SyncProperty(), "note": SyncProperty(rule: .closure)]),
        "Account": SyncEntity(["code": SyncProperty()], whenDeleted: .keepEdits),
    ])
    private static let rules = ProgramRules(
        merge: { _, old, mine, theirs in
            ["note": .text(ExactText([old?["note"], mine["note"], theirs["note"]].map { "\($0 ?? .null)" }.joined()))]
        }, rename: { _, values, _ in values })
    private let book = RowID("Book", "b")
    private let device = DeviceID("a")

    private func transaction(_ number: UInt64, _ id: RowID, base: HistoryNumber, _ edit: RowChange.Edit)
        -> OwnTransaction
    {
        OwnTransaction(
            number: number, reading: ClockReading(boot: "", running: 0, wall: 0),
            changes: [RowChange(id, base: base, edit, origin: ChangeOrigin(transaction: number, place: 0))])
    }

    private func edit(_ property: String, _ old: String, _ new: String) -> RowChange.Edit {
        .update([property: ValueChange(old: .text(ExactText(old)), new: .text(ExactText(new)))])
    }

    private func row(title: String = "", note: String = "") -> Row {
        Row(values: ["title": .text(ExactText(title)), "note": .text(ExactText(note))])
    }

    private func input(
        _ changes: [PageChange], from other: String = "b", frozen: FrozenBatch? = nil, open: [OwnTransaction],
        end: HistoryNumber = 6
    ) -> RebaseInput {
        var record = DeviceRecord(device: device)
        record.epoch = "life"
        record.cursor = 5
        let page = PageTransaction(number: end, time: 0, device: DeviceID(other), changes: changes)
        let order = RebaseOrder(transactions: changes.isEmpty ? [] : [page], end: end, record: record)
        return RebaseInput(order: order, record: record, schema: Self.schema, frozen: frozen, open: open)
    }

    /// Plans with a store that has these rows.
    private func plan(
        _ input: RebaseInput, base: [RowID: Row], shown: [RowID: Row], downloaded: [RowID: Row]? = nil,
        rules: ProgramRules = Self.rules
    ) throws -> RebasePlan {
        var input = input
        for id in Set(base.keys).union(shown.keys) {
            input.dirty[id] = .some(base[id])
            input.shown[id] = .some(shown[id])
        }
        var facts = RowFacts()
        while true {
            switch try Rebasing.step(input, rules: rules, facts: facts) {
            case .needs(let questions):
                facts.answers = questions.answers
                for id in questions.rows { facts.rows[id] = (downloaded ?? base)[id].map { .row($0) } ?? .absent }
                for id in questions.referrers { facts.referrers[id] = [] }
                for key in questions.holders { facts.holders[key] = [] }
            case .note(let ids):
                input.noted.formUnion(ids)
                for id in ids { input.attempts[id, default: 0] += 1 }
            case .done(let plan): return plan
            }
        }
    }

    @Test("shows what is unsent on top of the server's rows")
    func onTop() throws {
        let open = transaction(1, book, base: 5, edit("title", "Emma", "mine"))
        let plan = try plan(
            input([.values(book, ["title": "theirs"], nil)], open: [open]), base: [book: row(title: "Emma")],
            shown: [book: row(title: "mine")])
        #expect(plan.base[book] == .some(row(title: "theirs")))
        #expect(plan.shown[book] == .some(row(title: "mine")))
        // The base stays, so that the server compares the times.
        #expect(plan.open.first?.changes.first?.base == 5)
    }

    @Test("runs a closure on what was, mine and theirs, and sends its result alone")
    func closure() throws {
        let open = [
            transaction(1, book, base: 5, edit("note", "0", "1")),
            transaction(2, book, base: 5, edit("note", "1", "2")),
        ]
        let plan = try plan(
            input([.values(book, ["note": "x"], nil)], open: open), base: [book: row(note: "0")],
            shown: [book: row(note: "2")])
        let merged = ["0", "2", "x"].map { "\(SyncValue.text(ExactText($0)))" }.joined()
        #expect(plan.shown[book] == .some(row(note: merged)))
        #expect(plan.open.map(\.number) == [2])
        #expect(plan.open.first?.changes.first?.edit == edit("note", "x", merged))
        #expect(plan.open.first?.changes.first?.seen == 6)
        #expect(
            plan.open.first?.changes.first?.merged["note"] == [
                ChangeOrigin(transaction: 1, place: 0), ChangeOrigin(transaction: 2, place: 0),
            ])
    }

    @Test("runs a closure once, also where rows have to be looked up because of its result")
    func closureOnce() throws {
        let runs = Mutex(0)
        let rules = ProgramRules(
            merge: { _, _, _, _ in
                runs.withLock { $0 += 1 }
                return ["note": "merged"]
            }, rename: { _, values, _ in values })
        var input = input(
            [.values(book, ["note": "x"], nil)], open: [transaction(1, book, base: 5, edit("note", "0", "1"))])
        input.schema = SyncSchema([
            "Book": SyncEntity(
                ["title": SyncProperty(), "note": SyncProperty(rule: .closure)],
                uniques: [UniqueRule(["note"], whenTaken: .rename)])
        ])
        let plan = try plan(input, base: [book: row(note: "0")], shown: [book: row(note: "1")], rules: rules)
        #expect(plan.shown[book] == .some(row(note: "merged")))
        #expect(runs.withLock { $0 } == 1)
    }

    @Test("asks no closure that has ended the program twice")
    func poisoned() throws {
        var input = input(
            [.values(book, ["note": "x"], nil)], open: [transaction(1, book, base: 5, edit("note", "0", "1"))])
        input.attempts = [book: 2]
        let plan = try plan(input, base: [book: row(note: "0")], shown: [book: row(note: "1")])
        #expect(plan.skippedClosures == [book])
        #expect(plan.open.first?.changes.first?.skipsClosure == true)
        #expect(plan.shown[book] == .some(row(note: "1")))
    }

    @Test("puts an edit of a deleted row into the journal, or keeps the whole row where the schema says so")
    func deleted() throws {
        let account = RowID("Account", "1")
        let plan = try plan(
            input(
                [.deleted(book), .deleted(account)],
                open: [
                    transaction(1, book, base: 5, edit("title", "Emma", "x")),
                    transaction(2, account, base: 5, edit("code", "1", "2")),
                ]), base: [book: row(title: "Emma"), account: Row(values: ["code": "1"])],
            shown: [book: row(title: "x"), account: Row(values: ["code": "2"])])
        #expect(plan.journal.map(\.reason) == [.rowDeleted])
        #expect(plan.shown[book] == .some(nil))
        #expect(plan.shown[account] == .some(Row(values: ["code": "2"])))
        #expect(plan.open.first?.changes.first?.edit == .insert(["code": "2"]))
    }

    @Test("takes back what the server refused, with what builds on it, and leaves the rest")
    func refused() throws {
        let other = RowID("Book", "c")
        let frozen = FrozenBatch(
            request: PushRequest(
                device: device, agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", batch: 1,
                transactions: [transaction(1, book, base: 5, .insert(["title": "x"]))]),
            answer: .decided([.refused(.missingValue(property: "title"))]))
        let plan = try plan(
            input(
                [], frozen: frozen,
                open: [
                    transaction(2, book, base: 5, edit("title", "x", "y")),
                    transaction(3, other, base: 5, .insert(["title": "z"])),
                ], end: 5), base: [:], shown: [book: row(title: "y"), other: row(title: "z")])
        #expect(plan.journal.map(\.transaction) == [1, 2])
        #expect(plan.journal.map(\.reason) == [.missingValue(property: "title"), .dependsOnRefused(book)])
        #expect(plan.shown[book] == .some(nil))
        #expect(plan.open.map(\.number) == [3])
    }

    @Test("sends again what a restored server had taken and lost, insertions too, and not what was deleted meanwhile")
    func lost() throws {
        let gone = RowID("Book", "gone")
        var input = input(
            [], open: [transaction(3, book, base: 5, edit("title", "x", "y"))])
        input.order.stage = .everything
        input.order.restored = RestoredServer(lastDecided: 1, shared: 2)
        input.lost = [
            transaction(1, book, base: 5, .insert(["title": "x", "note": ""])),
            transaction(2, gone, base: 5, edit("title", "x", "y")),
        ]
        let plan = try plan(input, base: [book: row(title: "x")], shown: [book: row(title: "y")], downloaded: [:])
        #expect(plan.open.map(\.number) == [1, 3])
        #expect(plan.open.map(\.isRepeated) == [true, false])
        #expect(plan.open.flatMap(\.changes).allSatisfy { $0.base == 2 })
        #expect(plan.shown[book] == .some(row(title: "y")))
        #expect(plan.journal.map(\.change.id) == [gone])
    }

    @Test("is not needed for a page that has nothing but what was sent, and for every other one")
    func echo() throws {
        let new = RowID("Book", "new")
        func isEchoed(
            _ changes: [PageChange], from device: String = "a", _ outcomes: [PushOutcome]? = nil, end: HistoryNumber = 6
        ) -> Bool {
            var frozen = FrozenBatch(
                request: PushRequest(
                    device: self.device, agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life",
                    batch: 1,
                    transactions: [
                        transaction(1, new, base: 5, .insert(row(title: "x").values)),
                        transaction(2, book, base: 5, edit("title", "old", "y")),
                    ]))
            frozen.answer = .decided(outcomes ?? [.taken(6, []), .taken(6, [])])
            let input = input(changes, from: device, open: [], end: end)
            return frozen.isEchoed(
                by: input.order, from: input.record, base: [new: nil, book: row(title: "old", note: "n")])
        }
        let (inserted, edited) = (
            PageChange.row(new, row(title: "x").values, nil), PageChange.values(book, ["title": "y"], nil)
        )
        #expect(isEchoed([inserted, edited]))
        #expect(isEchoed([edited, inserted]))
        // The server's value stayed, or is another one, or somebody else has changed something.
        #expect(!isEchoed([inserted]))
        #expect(!isEchoed([edited]))
        #expect(!isEchoed([inserted, .values(book, ["title": "z"], nil)]))
        #expect(!isEchoed([inserted, .values(book, ["title": "y", "note": "m"], nil)]))
        #expect(!isEchoed([inserted, edited], from: "b"))
        #expect(!isEchoed([inserted, edited, .deleted(RowID("Book", "c"))]))
        #expect(!isEchoed([inserted, edited, .forwarded(new, to: book)]))
        #expect(!isEchoed([inserted, edited, .deleted(book)]))
        // Not all was taken, or not yet heard.
        #expect(!isEchoed([inserted, edited], [.taken(6, []), .conflict(book)]))
        #expect(!isEchoed([inserted, edited], [.taken(6, [])]))
        #expect(!isEchoed([inserted, edited], end: 5))
    }

    @Test("refuses a page that ends before what the server has taken")
    func shortPage() throws {
        let frozen = FrozenBatch(
            request: PushRequest(
                device: device, agreement: Agreement(deviceSchema: 1, serverSchema: 1), epoch: "life", batch: 1,
                transactions: [transaction(1, book, base: 5, .insert(["title": "x"]))]),
            answer: .decided([.taken(9, [])]))
        #expect(throws: PageTooShort.self) {
            _ = try plan(input([], frozen: frozen, open: []), base: [:], shown: [book: row(title: "x")])
        }
    }
}
