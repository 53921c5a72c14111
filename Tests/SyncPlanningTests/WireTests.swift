import TestSupport
import Testing

@testable import SyncPlanning

@Suite("Messages on the wire")
struct WireTests {
    @Test("are read as they were written, whatever is in them", arguments: 0..<20)
    func roundTrip(seed: Int) throws {
        var messages = RandomMessages(seed: UInt64(seed))
        for _ in 0..<40 {
            let question = messages.question()
            #expect(try Wire.decodeQuestion(Wire.encode(question)) == question)
            let answer = messages.answer()
            #expect(try Wire.decodeAnswer(Wire.encode(answer)) == answer)
        }
    }

    @Test("are the same bytes each time")
    func sameBytes() {
        for seed in 0..<50 {
            var (one, other) = (RandomMessages(seed: UInt64(seed)), RandomMessages(seed: UInt64(seed)))
            #expect(Wire.encode(one.question()) == Wire.encode(other.question()))
            #expect(Wire.encode(one.answer()) == Wire.encode(other.answer()))
        }
    }

    @Test("changed by somebody give a message, or an error with a name")
    func mutated() {
        var (random, refused) = (SplitMix(state: 62), 0)
        for seed in 0..<500 {
            var messages = RandomMessages(seed: UInt64(seed))
            var bytes = seed % 2 == 0 ? Wire.encode(messages.question()) : Wire.encode(messages.answer())
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { break }
            }
            do {
                if seed % 2 == 0 { _ = try Wire.decodeQuestion(bytes) } else { _ = try Wire.decodeAnswer(bytes) }
            } catch {
                refused += 1
                #expect(error is WireError && !"\(error)".isEmpty)
            }
        }
        #expect(refused > 300)
    }

    @Test("are refused when they are cut anywhere")
    func cut() throws {
        var messages = RandomMessages(seed: 5)
        for _ in 0..<5 {
            let bytes = Wire.encode(messages.answer())
            for count in stride(from: 0, to: bytes.count, by: 7) {
                #expect(throws: WireError.self) { try Wire.decodeAnswer(Array(bytes[..<count])) }
            }
        }
    }

    @Test("are refused by name where they are too large, too deep, of another version, or have a name twice")
    func limits() {
        func code(_ text: String, _ limits: WireLimits = WireLimits()) -> WireError.Code? {
            do {
                _ = try Wire.decodeAnswer(Array(text.utf8), limits: limits)
                return nil
            } catch { return (error as? WireError)?.code }
        }
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n{\"end\":1}\n") == nil)
        #expect(code("{\"pippin\":2,\"answer\":\"greet\"}\n{\"end\":1}\n") == .version)
        #expect(code("{\"answer\":\"greet\"}\n{\"end\":1}\n") == .content)
        #expect(code("{\"pippin\":1,\"answer\":\"greet\",\"answer\":\"moved\"}\n{\"end\":1}\n") == .content)
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n") == .truncated)
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n{\"end\":2}\n") == .truncated)
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n{\"end\":1}\n\n") == .content)
        #expect(code("<html><body>Log in</body></html>\n") == .syntax)
        #expect(code(String(repeating: "[", count: 100_000) + "\n") == .tooLarge)
        var limits = WireLimits()
        limits.body = 30
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n{\"end\":1}\n", limits) == .tooLarge)
        limits = WireLimits()
        limits.line = 10
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n{\"end\":1}\n", limits) == .tooLarge)
        limits = WireLimits()
        limits.values = 2
        #expect(code("{\"pippin\":1,\"answer\":\"greet\"}\n{\"end\":1}\n", limits) == .tooLarge)
    }

    @Test(
        "have times as ISO 8601, for every time there is",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00Z"), (1_796_083_200_000_001, "2026-12-01T00:00:00.000001Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"),
            (-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00Z"), (Int64.max, "+294247-01-10T04:00:54.775807Z"),
            (Int64.min, "-290308-12-21T19:59:05.224192Z"),
        ])
    func dates(time: Int64, text: String) {
        #expect(WireText.date(time) == text)
        #expect(WireText.time(text) == time)
    }

    @Test(
        "refuse what is not a time",
        arguments: [
            "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01", "2026-12-01T00:00:00",
            "+294247-01-10T04:00:54.775808Z", "2026-12-01T00:00:00.1Z", "-000000-01-01T00:00:00Z",
            "２０２６-12-01T00:00:00Z",
        ])
    func badDates(text: String) { #expect(WireText.time(text) == nil) }

    @Test("have texts as JSON says, and refuse what is not UTF-8")
    func texts() throws {
        for text in ["", "a\"\\\n\u{0}\u{1F}\u{7F}", "é", "e\u{301}", "👩‍👩‍👧", "\u{2028}"] {
            var bytes: [UInt8] = []
            WireText.write(text, to: &bytes)
            guard case .text(let read) = try WireParser.parse(bytes[...]) else {
                Issue.record("\(text)")
                continue
            }
            #expect(Array(read.utf8) == Array(text.utf8))
        }
        #expect(try WireParser.parse(Array("\"\\ud83d\\ude00\\/\"".utf8)[...]) == .text("😀/"))
        for bad in [
            "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\x\"", "\"a", "\"\n\"", "01", "1.2.3", "1e999", "-",
            "[1,]", "{\"a\"}", "1 2", "nul",
        ] {
            #expect(throws: WireError.self, "\(bad)") { try WireParser.parse(Array(bad.utf8)[...]) }
        }
        #expect(throws: WireError.self) { try WireParser.parse([0x22, 0xFF, 0x22]) }
        for bad in ["AA=A", "A", "AAA", "AB==", "AAB=", "A===", "AAAA====", "AA A"] {
            #expect(WireText.bytes(base64: bad) == nil, "\(bad)")
        }
    }
}

/// Messages with everything that can be in them.
struct RandomMessages {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed) }

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private mutating func chance() -> Bool { Bool.random(using: &random) }
    private mutating func big() -> UInt64 {
        chance() ? UInt64(number(1_000)) : UInt64.random(in: 0 ... .max, using: &random)
    }
    private mutating func time() -> Int64 { Int64.random(in: .min ... .max, using: &random) }

    private mutating func text() -> String {
        let pieces = ["a", "Emma", "\"", "\\", "\n", "\u{0}", "é", "e\u{301}", "漢", "👍🏽", " ", "{", "Z"]
        return (0..<number(6)).map { _ in pieces[number(pieces.count)] }.joined()
    }

    private mutating func id() -> RowID { RowID(text(), text()) }
    private mutating func scopes() -> Set<SyncScope> { Set((0..<number(3)).map { _ in SyncScope(text()) }) }
    private mutating func agreement() -> Agreement { Agreement(deviceSchema: number(9) - 4, serverSchema: .min) }

    mutating func value(depth: Int = 0) -> SyncValue {
        switch number(depth > 2 ? 9 : 11) {
        case 0: return .null
        case 1: return .bool(chance())
        case 2: return .integer(time())
        case 3:
            let special: [Double] = [0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300, 1, 0.1]
            return .double(ExactDouble(chance() ? special[number(special.count)] : Double(bitPattern: big())))
        case 4: return .decimal(["0", "-12.50", "1e20", "NaN", "99999999999999999999999999999999999999"][number(5)])
        case 5: return .text(ExactText(text()))
        case 6: return .date(time())
        case 7: return .bytes((0..<number(20)).map { _ in UInt8.random(in: 0...255, using: &random) })
        case 8: return .reference(id())
        case 9: return .list(Array(Set((0..<number(4)).map { _ in id() })).sorted())
        default: return .set(Set((0..<number(4)).map { _ in value(depth: depth + 1) }))
        }
    }

    private mutating func values() -> [String: SyncValue] {
        Dictionary((0..<number(4)).map { ("p\($0)" + text(), value()) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func known() -> KnownProperties {
        let kinds: [SyncProperty.Kind] = [
            .value, .list, .set, .reference(whenDeleted: .clear), .reference(whenDeleted: .deleteToo),
            .reference(whenDeleted: .refuse),
        ]
        var known: [String: [String: SyncProperty.Kind]] = [:]
        for _ in 0..<number(3) {
            known[text()] = Dictionary(
                (0..<number(4)).map { _ in (text(), kinds[number(kinds.count)]) },
                uniquingKeysWith: { first, _ in first })
        }
        return KnownProperties(known)
    }

    private mutating func change(of transaction: UInt64, _ place: Int) -> RowChange {
        let edit: RowChange.Edit
        switch number(3) {
        case 0: edit = .insert(values())
        case 1: edit = .update(values().mapValues { ValueChange(old: $0, new: value()) })
        default: edit = .delete
        }
        let origin =
            chance()
            ? ChangeOrigin(transaction: transaction, place: place) : ChangeOrigin(transaction: big(), place: number(9))
        var change = RowChange(id(), base: big(), edit, origin: origin)
        if chance() { change.seen = big() }
        if chance() { change.merged = ["a": [origin, ChangeOrigin(transaction: big(), place: 0)]] }
        change.skipsClosure = chance()
        return change
    }

    mutating func question() -> SyncQuestion {
        let device = DeviceID(text())
        let request: SyncRequest
        switch number(5) {
        case 0:
            request = .hello(
                HelloRequest(
                    device: device, epoch: chance() ? text() : nil, schemaVersion: Int(time()), properties: known(),
                    cursor: big(), cursorTime: chance() ? time() : nil, lastAnswered: big()))
        case 1:
            var transactions: [OwnTransaction] = []
            for _ in 0..<number(4) {
                var transaction = OwnTransaction(
                    number: big(), reading: ClockReading(boot: text(), running: time(), wall: time()), changes: [])
                transaction.changes = (0..<number(4)).map { change(of: transaction.number, $0) }
                if chance() { transaction.time = time() }
                transaction.isRepeated = chance()
                transactions.append(transaction)
            }
            request = .push(
                PushRequest(
                    device: device, agreement: agreement(), epoch: text(), batch: big(), transactions: transactions,
                    answered: chance() ? big() : nil))
        case 2:
            request = .pull(
                PullRequest(
                    device: device, agreement: agreement(), epoch: text(), after: big(), atLeast: big(),
                    atMost: chance() ? big() : nil, scopes: scopes(), afterTime: chance() ? time() : nil))
        case 3:
            let kinds: [DownloadKind] = [.everything, .scopes(scopes()), .properties(known())]
            request = .rows(
                RowsRequest(
                    device: device, agreement: agreement(), epoch: text(), kind: kinds[number(3)],
                    generation: chance() ? big() : nil, after: chance() ? id() : nil))
        default:
            let ranges = (0..<number(4)).map { _ in IdentifierRange(depth: 4, place: number(65_536)) } + [.all]
            request = .sums(
                SumsRequest(
                    device: device, agreement: agreement(), epoch: text(), at: big(), known: known(),
                    wanted: chance() ? .sums(ranges) : .rows(Set(ranges), after: chance() ? id() : nil)))
        }
        return SyncQuestion(request, scopes: chance() ? scopes() : nil, wait: number(60))
    }

    private mutating func reason() -> RefusalReason {
        let reasons: [RefusalReason] = [
            .uniqueValueTaken(properties: [text(), text()], by: chance() ? id() : nil), .rowDeleted, .rowLeftScope,
            .rowEdited, .missingReference(property: text(), id()), .missingValue(property: text()),
            .deletionDenied(by: id()), .notAuthorized(chance() ? SyncScope(text()) : nil), .dependsOnRefused(id()),
            .unknownProperty(text()),
        ]
        return reasons[number(reasons.count)]
    }

    private mutating func pageChange() -> PageChange {
        let scope = chance() ? SyncScope(text()) : nil
        switch number(5) {
        case 0: return .row(id(), values(), scope)
        case 1: return .values(id(), values(), scope)
        case 2: return .deleted(id())
        case 3: return .left(id())
        default: return .forwarded(id(), to: id())
        }
    }

    mutating func answer() -> SyncAnswer {
        switch number(9) {
        case 0:
            return .hello(
                HelloAnswer(
                    epoch: text(), shared: big(), latest: big(), oldest: big(), lastBatch: big(), lastDecided: big(),
                    granted: scopes(), agreement: agreement(), known: known(), unwritable: [text()], time: time()))
        case 1:
            var outcomes: [PushOutcome] = []
            for _ in 0..<number(4) {
                switch number(3) {
                case 0:
                    outcomes.append(
                        .taken(
                            big(),
                            (0..<number(3)).map { place in
                                RefusedChange(
                                    transaction: big(), change: change(of: 1, place), property: chance() ? text() : nil,
                                    reason: reason())
                            }))
                case 1: outcomes.append(.refused(reason()))
                default: outcomes.append(.conflict(id()))
                }
            }
            return .push(.decided(outcomes))
        case 2: return .push(chance() ? .notProcessed : .outdated)
        case 3, 4:
            return .page(
                Page(
                    transactions: (0..<number(4)).map { _ in
                        PageTransaction(
                            number: big(), time: time(), device: chance() ? DeviceID(text()) : nil,
                            changes: (0..<number(4)).map { _ in pageChange() })
                    }, end: big(), latest: big(), granted: scopes(), endTime: chance() ? time() : nil))
        case 5, 6:
            return .portion(
                Portion(
                    generation: big(), rows: (0..<number(5)).map { _ in pageChange() }, next: chance() ? id() : nil,
                    granted: scopes()))
        case 7: return .sums((0..<number(5)).map { _ in big() })
        default: return [.moved, .greet, .resync, .generationGone][number(4)]
        }
    }
}
