/// A request as it travels: with what only the way over a network needs.
package struct SyncQuestion: Hashable, Sendable {
    package var request: SyncRequest
    /// The scopes that the device wants; nil for all that its user may see.
    package var scopes: Set<SyncScope>?
    /// How many seconds a pull waits for news.
    package var wait: Int

    package init(_ request: SyncRequest, scopes: Set<SyncScope>? = nil, wait: Int = 0) {
        (self.request, self.scopes, self.wait) = (request, scopes, wait)
    }
}

/// The wire, version 1: requests and answers as lines of JSON, which Documentation/Sync wire.md describes. Pure.
///
/// The first line says what it is, the last one how many lines are between them: a message that is cut is not a
/// message.
package enum Wire {
    package static let version = 1
    /// What can be asked, as the last part of an address.
    package static let names: Set<String> = ["hello", "push", "changes", "rows", "sums"]

    // MARK: Requests

    package static func encode(_ question: SyncQuestion) -> [UInt8] {
        var writer = WireWriter()
        let name = name(of: question.request)
        func head(_ agreement: Agreement?, _ epoch: String?, _ rest: (inout WireWriter) -> Void) {
            writer.line { line in
                line.integer("pippin", version)
                line.text("ask", name)
                line.text("device", question.request.device.name)
                if let epoch { line.text("epoch", epoch) }
                if let agreement {
                    line.key("schemas")
                    line.list([agreement.deviceSchema, agreement.serverSchema]) { $0.integer($1) }
                }
                if let scopes = question.scopes { line.scopes("scopes", scopes) }
                if question.wait != 0 { line.integer("wait", question.wait) }
                rest(&line)
            }
        }
        switch question.request {
        case .hello(let hello):
            head(nil, hello.epoch) { line in
                line.integer("schema", hello.schemaVersion)
                line.number("cursor", hello.cursor)
                if let time = hello.cursorTime { line.date("cursorTime", time) }
                line.number("answered", hello.lastAnswered)
            }
            writer.properties(hello.properties)
        case .push(let push):
            head(push.agreement, push.epoch) { line in
                line.number("batch", push.batch)
                if let answered = push.answered { line.number("answered", answered) }
            }
            for transaction in push.transactions { writer.transaction(transaction) }
        case .pull(let pull):
            head(pull.agreement, pull.epoch) { line in
                line.number("after", pull.after)
                line.number("atLeast", pull.atLeast)
                if let atMost = pull.atMost { line.number("atMost", atMost) }
                line.scopes("has", pull.scopes)
                if let time = pull.afterTime { line.date("afterTime", time) }
            }
        case .rows(let rows):
            head(rows.agreement, rows.epoch) { line in
                if let generation = rows.generation { line.number("generation", generation) }
                if let after = rows.after { line.row("after", after) }
                if case .scopes(let scopes) = rows.kind { line.scopes("of", scopes) }
                if case .properties = rows.kind { line.flag("added", true) }
            }
            if case .properties(let known) = rows.kind { writer.properties(known) }
        case .sums(let sums):
            head(sums.agreement, sums.epoch) { line in
                line.number("at", sums.at)
                switch sums.wanted {
                case .sums(let ranges): line.ranges("sums", ranges)
                case .rows(let ranges, let after):
                    line.ranges("rows", ranges.sorted())
                    if let after { line.row("after", after) }
                }
            }
            writer.properties(sums.known)
        }
        return writer.finished
    }

    /// The last part of the address at which a request is asked.
    package static func name(of request: SyncRequest) -> String {
        switch request {
        case .hello: "hello"
        case .push: "push"
        case .pull: "changes"
        case .rows: "rows"
        case .sums: "sums"
        }
    }

    // MARK: Answers

    package static func encode(_ answer: SyncAnswer) -> [UInt8] {
        var writer = WireWriter()
        func head(_ name: String, _ rest: (inout WireWriter) -> Void = { _ in }) {
            writer.line { line in
                line.integer("pippin", version)
                line.text("answer", name)
                rest(&line)
            }
        }
        switch answer {
        case .hello(let hello):
            head("hello") { line in
                line.text("epoch", hello.epoch)
                line.number("shared", hello.shared)
                line.number("latest", hello.latest)
                line.number("oldest", hello.oldest)
                line.number("lastBatch", hello.lastBatch)
                line.number("lastDecided", hello.lastDecided)
                line.scopes("granted", hello.granted)
                line.key("schemas")
                line.list([hello.agreement.deviceSchema, hello.agreement.serverSchema]) { $0.integer($1) }
                line.key("unwritable")
                line.list(hello.unwritable.sorted()) { $0.text($1) }
                line.date("time", hello.time)
            }
            writer.properties(hello.known)
        case .push(.decided(let outcomes)):
            head("decided")
            for outcome in outcomes { writer.outcome(outcome) }
        case .push(.notProcessed): head("notProcessed")
        case .push(.outdated): head("outdated")
        case .page(let page):
            head("changes") { line in
                line.number("end", page.end)
                line.number("latest", page.latest)
                line.scopes("granted", page.granted)
                if let time = page.endTime { line.date("endTime", time) }
            }
            for transaction in page.transactions {
                writer.line { line in
                    line.number("tx", transaction.number)
                    line.date("time", transaction.time)
                    if let device = transaction.device { line.text("device", device.name) }
                }
                for change in transaction.changes { writer.change(change) }
            }
        case .portion(let portion):
            head("rows") { line in
                line.number("generation", portion.generation)
                if let next = portion.next { line.row("next", next) }
                line.scopes("granted", portion.granted)
            }
            for change in portion.rows { writer.change(change) }
        case .sums(let sums):
            head("sums") { line in
                line.key("sums")
                line.list(sums) { $0.text(WireText.hexadecimal($1)) }
            }
        case .moved: head("moved")
        case .greet: head("greet")
        case .resync: head("resync")
        case .generationGone: head("generationGone")
        }
        return writer.finished
    }
}

/// Writes lines of JSON.
private struct WireWriter {
    private var bytes: [UInt8] = []
    private var lines = 0
    private var isFirst = true

    var finished: [UInt8] {
        var last = self
        let count = lines
        last.line { $0.integer("end", count) }
        return last.bytes
    }

    mutating func line(_ body: (inout WireWriter) -> Void) {
        object(body)
        bytes.append(0x0A)
        lines += 1
    }

    private mutating func object(_ body: (inout WireWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
        body(&self)
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    mutating func key(_ name: String) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        WireText.write(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func text(_ text: String) { WireText.write(text, to: &bytes) }
    mutating func integer(_ number: some BinaryInteger) { bytes += Array(String(number).utf8) }

    mutating func list<Item>(_ items: some Sequence<Item>, _ write: (inout WireWriter, Item) -> Void) {
        bytes.append(UInt8(ascii: "["))
        var isNext = false
        for item in items {
            if isNext { bytes.append(UInt8(ascii: ",")) }
            isNext = true
            write(&self, item)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func text(_ name: String, _ text: String) {
        key(name)
        self.text(text)
    }

    mutating func integer(_ name: String, _ number: Int) {
        key(name)
        integer(number)
    }

    mutating func number(_ name: String, _ number: UInt64) {
        key(name)
        integer(number)
    }

    mutating func date(_ name: String, _ time: Int64) { text(name, WireText.date(time)) }

    mutating func flag(_ name: String, _ flag: Bool) {
        key(name)
        bytes += Array((flag ? "true" : "false").utf8)
    }

    mutating func row(_ id: RowID) {
        list([id.entity, id.key.string]) { $0.text($1) }
    }

    mutating func row(_ name: String, _ id: RowID) {
        key(name)
        row(id)
    }

    mutating func scopes(_ name: String, _ scopes: Set<SyncScope>) {
        key(name)
        list(scopes.sorted()) { $0.text($1.name.string) }
    }

    mutating func ranges(_ name: String, _ ranges: [IdentifierRange]) {
        key(name)
        list(ranges) { $0.list([$1.depth, $1.place]) { $0.integer($1) } }
    }

    // MARK: Values

    mutating func value(_ value: SyncValue) {
        func tagged(_ tag: String, _ body: (inout WireWriter) -> Void) {
            bytes.append(UInt8(ascii: "{"))
            text(tag)
            bytes.append(UInt8(ascii: ":"))
            body(&self)
            bytes.append(UInt8(ascii: "}"))
        }
        switch value {
        case .null: bytes += Array("null".utf8)
        case .bool(let flag): bytes += Array((flag ? "true" : "false").utf8)
        case .integer(let number): integer(number)
        case .double(let number):
            // The shortest text that gives the same bits; it always has a point or an exponent.
            let double = number.value
            if double.isFinite {
                bytes += Array(double.description.utf8)
            } else {
                tagged("f") { $0.text(WireText.hexadecimal(double.bitPattern)) }
            }
        case .decimal(let digits): tagged("n") { $0.text(digits) }
        case .text(let text): self.text(text.string)
        case .date(let time): tagged("t") { $0.text(WireText.date(time)) }
        case .bytes(let content):
            tagged("b") { writer in
                writer.bytes.append(UInt8(ascii: "\""))
                WireText.writeBase64(content, to: &writer.bytes)
                writer.bytes.append(UInt8(ascii: "\""))
            }
        case .reference(let id): tagged("r") { $0.row(id) }
        case .list(let ids): tagged("l") { $0.list(ids) { $0.row($1) } }
        case .set(let values):
            let members = values.map { value in
                var writer = WireWriter()
                writer.value(value)
                return writer.bytes
            }
            tagged("s") { writer in
                writer.list(members.sorted { $0.lexicographicallyPrecedes($1) }) { $0.bytes += $1 }
            }
        }
    }

    mutating func values(_ name: String, _ values: [String: SyncValue]) {
        key(name)
        object { writer in
            for (property, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.key(property)
                writer.value(value)
            }
        }
    }

    mutating func properties(_ known: KnownProperties) {
        for (entity, kinds) in known.kinds.sorted(by: { $0.key < $1.key }) {
            line { line in
                line.text("entity", entity)
                line.key("properties")
                line.object { line in
                    for (property, kind) in kinds.sorted(by: { $0.key < $1.key }) {
                        line.text(property, Self.name(of: kind))
                    }
                }
            }
        }
    }

    private static func name(of kind: SyncProperty.Kind) -> String {
        switch kind {
        case .value: "value"
        case .list: "list"
        case .set: "set"
        case .reference(.clear): "reference"
        case .reference(.deleteToo): "referenceDeletesToo"
        case .reference(.refuse): "referenceRefuses"
        }
    }

    // MARK: Changes

    mutating func change(_ change: PageChange) {
        line { line in
            line.text("e", change.id.entity)
            line.text("id", change.id.key.string)
            switch change {
            case .row(_, let values, let scope):
                line.values("row", values)
                if let scope { line.text("scope", scope.name.string) }
            case .values(_, let values, let scope):
                line.values("set", values)
                if let scope { line.text("scope", scope.name.string) }
            case .deleted: line.text("gone", "deleted")
            case .left: line.text("gone", "scope")
            case .forwarded(_, let other): line.row("joined", other)
            }
        }
    }

    mutating func transaction(_ transaction: OwnTransaction) {
        line { line in
            line.number("tx", transaction.number)
            line.text("boot", transaction.reading.boot)
            line.integer("running", Int(transaction.reading.running))
            line.date("wall", transaction.reading.wall)
            if let time = transaction.time { line.date("time", time) }
            if transaction.isRepeated { line.flag("repeated", true) }
        }
        for (place, change) in transaction.changes.enumerated() {
            line { $0.change(change, usual: ChangeOrigin(transaction: transaction.number, place: place)) }
        }
    }

    /// - Parameters:
    ///   - change: the change.
    ///   - usual: the origin that need not be said.
    private mutating func change(_ change: RowChange, usual: ChangeOrigin?) {
        text("e", change.id.entity)
        text("id", change.id.key.string)
        number("base", change.base)
        if change.seen != change.base { number("seen", change.seen) }
        if change.origin != usual { origins("from", [change.origin]) }
        switch change.edit {
        case .insert(let values): self.values("insert", values)
        case .update(let changes):
            key("update")
            object { writer in
                for (property, change) in changes.sorted(by: { $0.key < $1.key }) {
                    writer.key(property)
                    writer.list([change.old, change.new]) { $0.value($1) }
                }
            }
        case .delete: flag("delete", true)
        }
        if !change.merged.isEmpty {
            key("merged")
            object { writer in
                for (property, origins) in change.merged.sorted(by: { $0.key < $1.key }) {
                    writer.origins(property, origins.sorted())
                }
            }
        }
        if change.skipsClosure { flag("skipsClosure", true) }
    }

    private mutating func origins(_ name: String, _ origins: [ChangeOrigin]) {
        key(name)
        list(origins) { writer, origin in
            writer.bytes.append(UInt8(ascii: "["))
            writer.integer(origin.transaction)
            writer.bytes.append(UInt8(ascii: ","))
            writer.integer(origin.place)
            writer.bytes.append(UInt8(ascii: "]"))
        }
    }

    mutating func outcome(_ outcome: PushOutcome) {
        line { line in
            switch outcome {
            case .taken(let number, let refused):
                line.number("taken", number)
                if refused.isEmpty { break }
                line.key("refused")
                line.list(refused) { writer, item in
                    writer.object { writer in
                        writer.number("tx", item.transaction)
                        writer.key("change")
                        writer.object { $0.change(item.change, usual: nil) }
                        if let property = item.property { writer.text("property", property) }
                        writer.reason(item.reason)
                    }
                }
            case .refused(let reason): line.reason(reason)
            case .conflict(let id): line.row("conflict", id)
            }
        }
    }

    private mutating func reason(_ reason: RefusalReason) {
        func why(_ name: String) { text("why", name) }
        switch reason {
        case .uniqueValueTaken(let properties, let id):
            why("uniqueValueTaken")
            key("properties")
            list(properties) { $0.text($1) }
            if let id { row("by", id) }
        case .rowDeleted: why("rowDeleted")
        case .rowLeftScope: why("rowLeftScope")
        case .rowEdited: why("rowEdited")
        case .missingReference(let property, let id):
            why("missingReference")
            text("of", property)
            row("by", id)
        case .missingValue(let property):
            why("missingValue")
            text("of", property)
        case .deletionDenied(let id):
            why("deletionDenied")
            row("by", id)
        case .notAuthorized(let scope):
            why("notAuthorized")
            if let scope { text("scope", scope.name.string) }
        case .dependsOnRefused(let id):
            why("dependsOnRefused")
            row("by", id)
        case .unknownProperty(let property):
            why("unknownProperty")
            text("of", property)
        }
    }
}
