extension Wire {
    /// Reads a request.
    ///
    /// - Parameters:
    ///   - bytes: its lines.
    ///   - limits: how large it may be.
    /// - Returns: the request.
    /// - Throws: ``WireError``.
    package static func decodeQuestion(_ bytes: [UInt8], limits: WireLimits = WireLimits()) throws -> SyncQuestion {
        var reader = try WireReader(bytes, limits)
        let head = reader.head
        let device = DeviceID(try head.text("device"))
        func agreement() throws -> Agreement {
            let numbers = try head.array("schemas")
            guard numbers.count == 2, let one = numbers[0].int, let other = numbers[1].int else {
                throw head.wrong("schemas", "two whole numbers")
            }
            return Agreement(deviceSchema: one, serverSchema: other)
        }
        let request: SyncRequest
        switch try head.text("ask") {
        case "hello":
            request = .hello(
                HelloRequest(
                    device: device, epoch: try head.optional("epoch")?.string(),
                    schemaVersion: try head.value("schema").whole(), properties: try reader.properties(),
                    cursor: try head.number("cursor"), cursorTime: try head.optional("cursorTime")?.date(),
                    lastAnswered: try head.number("answered")))
        case "push":
            request = .push(
                PushRequest(
                    device: device, agreement: try agreement(), epoch: try head.text("epoch"),
                    batch: try head.number("batch"), transactions: try reader.transactions(),
                    answered: try head.optional("answered")?.number()))
        case "changes":
            request = .pull(
                PullRequest(
                    device: device, agreement: try agreement(), epoch: try head.text("epoch"),
                    after: try head.number("after"), atLeast: try head.number("atLeast"),
                    atMost: try head.optional("atMost")?.number(), scopes: try head.value("has").scopes(),
                    afterTime: try head.optional("afterTime")?.date()))
        case "rows":
            var kind = DownloadKind.everything
            if let scopes = try head.optional("of")?.scopes() { kind = .scopes(scopes) }
            if try head.optional("added")?.flag() == true { kind = .properties(try reader.properties()) }
            request = .rows(
                RowsRequest(
                    device: device, agreement: try agreement(), epoch: try head.text("epoch"), kind: kind,
                    generation: try head.optional("generation")?.number(), after: try head.optional("after")?.row()))
        case "sums":
            let wanted: SumsRequest.Wanted
            if let ranges = head.optional("sums") {
                wanted = .sums(try ranges.ranges())
            } else {
                wanted = .rows(Set(try head.value("rows").ranges()), after: try head.optional("after")?.row())
            }
            request = .sums(
                SumsRequest(
                    device: device, agreement: try agreement(), epoch: try head.text("epoch"),
                    at: try head.number("at"), known: try reader.properties(), wanted: wanted))
        case let other:
            throw WireError(
                .content, "“\(WireParser.short(other))” is not a question: hello, push, changes, rows or sums")
        }
        try reader.finish()
        let wait = try head.optional("wait")?.whole() ?? 0
        return SyncQuestion(request, scopes: try head.optional("scopes")?.scopes(), wait: wait)
    }

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - bytes: its lines.
    ///   - limits: how large it may be.
    /// - Returns: the answer.
    /// - Throws: ``WireError``.
    package static func decodeAnswer(_ bytes: [UInt8], limits: WireLimits = WireLimits()) throws -> SyncAnswer {
        var reader = try WireReader(bytes, limits)
        let head = reader.head
        let answer: SyncAnswer
        switch try head.text("answer") {
        case "hello":
            let schemas = try head.array("schemas")
            guard schemas.count == 2, let one = schemas[0].int, let other = schemas[1].int else {
                throw head.wrong("schemas", "two whole numbers")
            }
            answer = .hello(
                HelloAnswer(
                    epoch: try head.text("epoch"), shared: try head.number("shared"),
                    latest: try head.number("latest"), oldest: try head.number("oldest"),
                    lastBatch: try head.number("lastBatch"), lastDecided: try head.number("lastDecided"),
                    granted: try head.value("granted").scopes(),
                    agreement: Agreement(deviceSchema: one, serverSchema: other), known: try reader.properties(),
                    unwritable: Set(try head.array("unwritable").map { try $0.string() }),
                    time: try head.value("time").date()))
        case "decided": answer = .push(.decided(try reader.outcomes()))
        case "notProcessed": answer = .push(.notProcessed)
        case "outdated": answer = .push(.outdated)
        case "changes":
            answer = .page(
                Page(
                    transactions: try reader.pageTransactions(), end: try head.number("end"),
                    latest: try head.number("latest"), granted: try head.value("granted").scopes(),
                    endTime: try head.optional("endTime")?.date()))
        case "rows":
            var rows: [PageChange] = []
            while let line = try reader.next() { rows.append(try line.change()) }
            answer = .portion(
                Portion(
                    generation: try head.number("generation"), rows: rows, next: try head.optional("next")?.row(),
                    granted: try head.value("granted").scopes()))
        case "sums":
            answer = .sums(
                try head.array("sums").map { item in
                    guard let sum = WireText.number(hexadecimal: try item.string()) else {
                        throw head.wrong("sums", "sums of sixteen hexadecimal digits")
                    }
                    return sum
                })
        case "moved": answer = .moved
        case "greet": answer = .greet
        case "resync": answer = .resync
        case "generationGone": answer = .generationGone
        case let other: throw WireError(.content, "“\(WireParser.short(other))” is not an answer that is known")
        }
        try reader.finish()
        return answer
    }
}

/// An object of a message, or a value in it, with its name for errors.
private struct WireField {
    let name: String
    let value: WireJSON

    func wrong(_ field: String, _ expected: String) -> WireError {
        WireError(.content, "“\(WireParser.short(field))” in \(name) is not \(expected)")
    }

    private func wrong(_ expected: String) -> WireError { WireError(.content, "\(name) is not \(expected)") }

    func items() throws -> [String: WireJSON] {
        guard case .object(let items) = value else { throw wrong("an object") }
        return items
    }

    func optional(_ field: String) -> WireField? {
        guard case .object(let items) = value, let found = items[field] else { return nil }
        return WireField(name: "“\(field)” of \(name)", value: found)
    }

    func value(_ field: String) throws -> WireField {
        guard let found = optional(field) else { throw WireError(.content, "“\(field)” is missing in \(name)") }
        return found
    }

    func text(_ field: String) throws -> String { try value(field).string() }
    func number(_ field: String) throws -> UInt64 { try value(field).number() }
    func array(_ field: String) throws -> [WireField] { try value(field).array() }

    func array() throws -> [WireField] {
        guard case .array(let items) = value else { throw wrong("an array") }
        return items.map { WireField(name: "a member of \(name)", value: $0) }
    }

    func string() throws -> String {
        guard case .text(let text) = value else { throw wrong("a text") }
        return text
    }

    func flag() throws -> Bool {
        guard case .bool(let flag) = value else { throw wrong("true or false") }
        return flag
    }

    var int: Int? { if case .integer(let number) = value { Int(number) } else { nil } }

    func whole() throws -> Int {
        guard let int else { throw wrong("a whole number") }
        return int
    }

    func number() throws -> UInt64 {
        switch value {
        case .integer(let number) where number >= 0: return UInt64(number)
        case .unsigned(let number): return number
        default: throw wrong("a whole number that is not negative")
        }
    }

    func date() throws -> Int64 {
        guard let time = WireText.time(try string()) else { throw wrong("a time such as 2026-11-30T12:00:00.000001Z") }
        return time
    }

    func row() throws -> RowID {
        guard case .array(let items) = value, items.count == 2, case .text(let entity) = items[0],
            case .text(let key) = items[1]
        else { throw wrong("an entity and an identifier") }
        return RowID(entity, key)
    }

    func scopes() throws -> Set<SyncScope> { Set(try array().map { SyncScope(try $0.string()) }) }

    func ranges() throws -> [IdentifierRange] {
        try array().map { range in
            guard case .array(let items) = range.value, items.count == 2, case .integer(let depth) = items[0],
                case .integer(let place) = items[1], (0...Int64(IdentifierRange.deepest)).contains(depth),
                (0..<(Int64(1) << (4 * depth))).contains(place)
            else { throw range.wrong("a depth of at most \(IdentifierRange.deepest) and a place in it") }
            return IdentifierRange(depth: Int(depth), place: Int(place))
        }
    }

    func syncValue() throws -> SyncValue {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .unsigned: throw wrong("a number of 64 bits with a sign")
        case .double(let number): return .double(ExactDouble(number))
        case .text(let text): return .text(ExactText(text))
        case .array: throw wrong("a value: arrays have a kind, such as {\"l\":[…]}")
        case .object(let items):
            guard items.count == 1, let (kind, content) = items.first else { throw wrong("a value of one kind") }
            return try WireField(name: name, value: content).syncValue(ofKind: kind)
        }
    }

    private func syncValue(ofKind kind: String) throws -> SyncValue {
        switch kind {
        case "f":
            guard let bits = WireText.number(hexadecimal: try string()) else {
                throw wrong("sixteen hexadecimal digits")
            }
            return .double(ExactDouble(Double(bitPattern: bits)))
        case "n":
            let digits = try string()
            guard Self.isDecimal(digits) else { throw wrong("a decimal number") }
            return .decimal(digits)
        case "t": return .date(try date())
        case "b":
            guard let bytes = WireText.bytes(base64: try string()) else { throw wrong("base64") }
            return .bytes(bytes)
        case "r": return .reference(try row())
        case "l":
            let ids = try array().map { try $0.row() }
            if Set(ids).count != ids.count { throw wrong("a list that has each row once") }
            return .list(ids)
        case "s": return .set(Set(try array().map { try $0.syncValue() }))
        default: throw wrong("of a kind that is known: f, n, t, b, r, l or s")
        }
    }

    /// Whether a text is what `Decimal` writes: digits with at most one point, a sign, an exponent; or not a number.
    private static func isDecimal(_ text: String) -> Bool {
        if text == "NaN" { return true }
        var digits = 0
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39: digits += 1
            case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "e"), UInt8(ascii: "E"): break
            default: return false
            }
        }
        return digits > 0 && text.utf8.count <= 400
    }

    func values() throws -> [String: SyncValue] {
        var values: [String: SyncValue] = [:]
        for (property, value) in try items() {
            values[property] = try WireField(name: "the value of “\(WireParser.short(property))”", value: value)
                .syncValue()
        }
        return values
    }

    func id() throws -> RowID { RowID(try text("e"), try text("id")) }

    func change() throws -> PageChange {
        let id = try id()
        let scope = try optional("scope").map { SyncScope(try $0.string()) }
        if let row = optional("row") { return .row(id, try row.values(), scope) }
        if let set = optional("set") { return .values(id, try set.values(), scope) }
        if let joined = optional("joined") { return .forwarded(id, to: try joined.row()) }
        switch try text("gone") {
        case "deleted": return .deleted(id)
        case "scope": return .left(id)
        default: throw wrong("gone", "“deleted” or “scope”")
        }
    }

    func rowChange(usual: ChangeOrigin?) throws -> RowChange {
        let edit: RowChange.Edit
        if let values = optional("insert") {
            edit = .insert(try values.values())
        } else if let update = optional("update") {
            var changes: [String: ValueChange] = [:]
            for (property, value) in try update.items() {
                let field = WireField(name: "the change of “\(WireParser.short(property))”", value: value)
                let pair = try field.array()
                guard pair.count == 2 else { throw field.wrong("the former value and the new one") }
                changes[property] = ValueChange(old: try pair[0].syncValue(), new: try pair[1].syncValue())
            }
            edit = .update(changes)
        } else {
            guard try value("delete").flag() else { throw wrong("delete", "true") }
            edit = .delete
        }
        let origin = try optional("from")?.origins().first ?? usual
        guard let origin else { throw WireError(.content, "“from” is missing in \(name)") }
        var change = RowChange(try id(), base: try number("base"), edit, origin: origin)
        change.seen = try optional("seen")?.number() ?? change.base
        for (property, value) in try optional("merged")?.items() ?? [:] {
            change.merged[property] = Set(try WireField(name: "“merged” of \(name)", value: value).origins())
        }
        change.skipsClosure = try optional("skipsClosure")?.flag() ?? false
        return change
    }

    private func origins() throws -> [ChangeOrigin] {
        try array().map { item in
            let pair = try item.array()
            guard pair.count == 2 else { throw item.wrong("a transaction and a place") }
            return ChangeOrigin(transaction: try pair[0].number(), place: try pair[1].whole())
        }
    }

    func outcome() throws -> PushOutcome {
        if let taken = optional("taken") {
            let refused = try optional("refused")?.array() ?? []
            return .taken(
                try taken.number(),
                try refused.map { item in
                    RefusedChange(
                        transaction: try item.number("tx"), change: try item.value("change").rowChange(usual: nil),
                        property: try item.optional("property")?.string(), reason: try item.reason())
                })
        }
        if let conflict = optional("conflict") { return .conflict(try conflict.row()) }
        return .refused(try reason())
    }

    private func reason() throws -> RefusalReason {
        switch try text("why") {
        case "uniqueValueTaken":
            return .uniqueValueTaken(
                properties: try array("properties").map { try $0.string() }, by: try optional("by")?.row())
        case "rowDeleted": return .rowDeleted
        case "rowLeftScope": return .rowLeftScope
        case "rowEdited": return .rowEdited
        case "missingReference": return .missingReference(property: try text("of"), try value("by").row())
        case "missingValue": return .missingValue(property: try text("of"))
        case "deletionDenied": return .deletionDenied(by: try value("by").row())
        case "notAuthorized": return .notAuthorized(try optional("scope").map { SyncScope(try $0.string()) })
        case "dependsOnRefused": return .dependsOnRefused(try value("by").row())
        case "unknownProperty": return .unknownProperty(try text("of"))
        case let other: throw WireError(.content, "“\(WireParser.short(other))” is not a reason that is known")
        }
    }
}

/// Reads the lines of a message.
private struct WireReader {
    let head: WireField
    private let bytes: [UInt8]
    private let limits: WireLimits
    private var place = 0
    private var lines = 1
    private var kept: WireField?

    init(_ bytes: [UInt8], _ limits: WireLimits) throws {
        if bytes.count > limits.body {
            throw WireError(.tooLarge, "the message has \(bytes.count) bytes; at most \(limits.body) are read")
        }
        (self.bytes, self.limits) = (bytes, limits)
        guard let (value, end) = try Self.line(of: bytes, at: 0, limits) else {
            throw WireError(.truncated, "the message has no line")
        }
        head = WireField(name: "line 1", value: value)
        place = end
        switch head.optional("pippin")?.int {
        case Wire.version?: break
        case let other?:
            throw WireError(
                .version, "the other side speaks version \(other) of the wire, and this one \(Wire.version)")
        case nil: throw WireError(.content, "“pippin”, the version of the wire, is missing in line 1")
        }
    }

    private static func line(
        of bytes: [UInt8], at place: Int, _ limits: WireLimits
    ) throws -> (WireJSON, end: Int)? {
        guard place < bytes.count else { return nil }
        guard let end = bytes[place...].firstIndex(of: 0x0A) else {
            throw WireError(.truncated, "the last line has no end")
        }
        return (try WireParser.parse(bytes[place..<end], limits), end + 1)
    }

    /// The next line; nil at the last one, which says how many lines there are.
    mutating func next() throws -> WireField? {
        if let kept {
            self.kept = nil
            return kept
        }
        guard let (value, end) = try Self.line(of: bytes, at: place, limits) else {
            throw WireError(.truncated, "the message ends after \(lines) lines, before its last one")
        }
        let field = WireField(name: "line \(lines + 1)", value: value)
        if let count = field.optional("end") {
            guard try count.whole() == lines else {
                throw WireError(.truncated, "the message has \(lines) lines before its last one, which says otherwise")
            }
            guard end == bytes.count else { throw WireError(.content, "something follows the message's last line") }
            return nil
        }
        (place, lines) = (end, lines + 1)
        return field
    }

    private mutating func putBack(_ field: WireField) { kept = field }

    /// Makes sure that nothing is left.
    mutating func finish() throws {
        if let line = try next() { throw WireError(.content, "\(line.name) is one that nobody expects there") }
    }

    mutating func properties() throws -> KnownProperties {
        var kinds: [String: [String: SyncProperty.Kind]] = [:]
        while let line = try next() {
            var properties: [String: SyncProperty.Kind] = [:]
            for (property, value) in try line.value("properties").items() {
                let field = WireField(name: "the kind of “\(WireParser.short(property))”", value: value)
                switch try field.string() {
                case "value": properties[property] = .value
                case "list": properties[property] = .list
                case "set": properties[property] = .set
                case "reference": properties[property] = .reference(whenDeleted: .clear)
                case "referenceDeletesToo": properties[property] = .reference(whenDeleted: .deleteToo)
                case "referenceRefuses": properties[property] = .reference(whenDeleted: .refuse)
                default: throw line.wrong(property, "of a kind that is known")
                }
            }
            if kinds.updateValue(properties, forKey: try line.text("entity")) != nil {
                throw WireError(.content, "\(line.name) has an entity for the second time")
            }
        }
        return KnownProperties(kinds)
    }

    mutating func transactions() throws -> [OwnTransaction] {
        var transactions: [OwnTransaction] = []
        while let line = try next() {
            var transaction = OwnTransaction(
                number: try line.number("tx"),
                reading: ClockReading(
                    boot: try line.text("boot"), running: Int64(try line.value("running").whole()),
                    wall: try line.value("wall").date()), changes: [])
            transaction.time = try line.optional("time")?.date()
            transaction.isRepeated = try line.optional("repeated")?.flag() ?? false
            while let change = try next() {
                if change.optional("tx") != nil {
                    putBack(change)
                    break
                }
                let usual = ChangeOrigin(transaction: transaction.number, place: transaction.changes.count)
                transaction.changes.append(try change.rowChange(usual: usual))
            }
            transactions.append(transaction)
        }
        return transactions
    }

    mutating func pageTransactions() throws -> [PageTransaction] {
        var transactions: [PageTransaction] = []
        while let line = try next() {
            var transaction = PageTransaction(
                number: try line.number("tx"), time: try line.value("time").date(),
                device: try line.optional("device").map { DeviceID(try $0.string()) }, changes: [])
            while let change = try next() {
                if change.optional("tx") != nil {
                    putBack(change)
                    break
                }
                transaction.changes.append(try change.change())
            }
            transactions.append(transaction)
        }
        return transactions
    }

    mutating func outcomes() throws -> [PushOutcome] {
        var outcomes: [PushOutcome] = []
        while let line = try next() { outcomes.append(try line.outcome()) }
        return outcomes
    }
}
