import CoreData
import HTTPMessages
import StoreReading

/// An attribute that can be edited: its value as text, and the value of a typed text or uploaded file. Pure.
struct EditField {
    enum Kind: Equatable {
        case text, number, boolean, date, uuid, url
        /// Bytes that are JSON, typed as such.
        case json
        /// Bytes, typed as hexadecimal digits or sent as a file.
        case bytes
    }

    /// Larger values are not typed, but uploaded.
    static let mostTyped = 2048

    /// The name; for an element of a composite attribute, the names on the way to it, separated by dots.
    let name: String
    let kind: Kind
    let isOptional: Bool
    let isNull: Bool
    /// The value as text; empty for bytes that are too many.
    let text: String
    /// The value in words, as it is shown beside a new one.
    let shown: String
    /// The number of bytes; nil for values of other types.
    let byteCount: Int?
    private let type: NSAttributeType

    var typeName: String { TypeName.of(type) }

    /// The attributes that can be edited: without those that are computed, and those that a transformer turns into
    /// bytes. Of a composite attribute, its elements.
    static func fields(of row: Row) -> [EditField] {
        let layout = row.objectID.layout
        // In the order of the object's own page.
        let all = GridPage.columns(of: layout).flatMap { index -> [EditField] in
            let slot = layout.slots[index]
            guard let attribute = slot.attribute, !slot.isTransient, attribute.derivation == nil else { return [] }
            return fields(slot.name, row.values[index], attribute)
        }
        // Those that take most space come last.
        return all.filter { !$0.isLarge } + all.filter(\.isLarge)
    }

    private static func fields(_ name: String, _ value: StoredValue, _ attribute: AttributeLayout) -> [EditField] {
        guard attribute.type == .compositeAttributeType else {
            return EditField(name, value, attribute).map { [$0] } ?? []
        }
        var composite: CompositeValue?
        if case .object(let object) = value {
            composite = object as? CompositeValue
            // Of a value that cannot be read, no element is known.
            if composite == nil { return [] }
        }
        return attribute.elements.flatMap { element in
            fields("\(name).\(element.name)", composite?.stored(element) ?? .null, element)
        }
    }

    private var isLarge: Bool { kind == .bytes || kind == .json }

    private init?(_ name: String, _ stored: StoredValue, _ attribute: AttributeLayout) {
        let value = FieldValue(stored, attribute)
        guard let kind = Self.kind(attribute.type, value) else { return nil }
        (self.name, self.kind, type) = (name, kind, attribute.type)
        isOptional = attribute.description.isOptional
        isNull = stored.isNull
        switch (kind, value) {
        case (.bytes, .data(let data)):
            text = data.count > Self.mostTyped ? "" : HexText.digits(of: data)
            (shown, byteCount) = (HexText.summary(of: data), data.count)
        case (.bytes, .missing(let file, _)): (text, shown, byteCount) = ("", "missing: \(file)", nil)
        case (.bytes, _): (text, shown, byteCount) = ("", "none", nil)
        default:
            text = kind == .json ? PrettyJSON.text(CSVText.cell(value)) : CSVText.cell(value)
            (shown, byteCount) = (isNull ? "none" : text.isEmpty ? "an empty text" : text, nil)
        }
    }

    private static func kind(_ type: NSAttributeType, _ value: FieldValue) -> Kind? {
        switch type {
        case _ where type.isNumber: .number
        case .stringAttributeType: .text
        case .booleanAttributeType: .boolean
        case .dateAttributeType: .date
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .url
        case .binaryDataAttributeType: if case .json = value { .json } else { .bytes }
        default: nil
        }
    }

    /// The changes in a submitted form.
    ///
    /// - Parameters:
    ///   - row: the object.
    ///   - form: what was typed.
    ///   - file: the file that was uploaded for a field; nil if there is none.
    /// - Returns: the differences.
    /// - Throws: `EditChange.Refusal` that names the attribute.
    static func changes(
        of row: Row, _ form: HTTPFields, file: (String) throws -> Data? = { _ in nil }
    ) throws -> [EditChange] {
        try fields(of: row).compactMap { field in
            let wasNone = field.isOptional && form[originalPrefix + field.name] == Original.none
            if field.isOptional, form["n." + field.name] != nil {
                guard wasNone else { return field.isNull ? nil : field.change(nil, "none") }
                // Only the script unchecks “none” when something is typed.
                let isFilled = try form["v." + field.name].map(field.isFilled) ?? false || file(field.name) != nil
                guard !isFilled else {
                    throw EditChange.Refusal(
                        message: "“\(field.name)” has a value, and is “none”: uncheck “none”, or empty it.")
                }
                return nil
            }
            if let data = try file(field.name) { return field.change(data, HexText.summary(of: data)) }
            guard let typed = form["v." + field.name], form[originalPrefix + field.name] != Original.mark(typed) else {
                return nil
            }
            // Browsers send CRLF as line break, whatever the page contains.
            let text = typed.replacing("\r\n", with: "\n")
            // An empty field means no change if the attribute has no value, unless “none” was unchecked for an empty
            // one; or if its bytes are not shown.
            let canBeEmpty = wasNone && [.text, .bytes].contains(field.kind)
            if text.isEmpty, field.isNull ? !canBeEmpty : field.text.isEmpty && field.kind == .bytes { return nil }
            guard field.isNull || text != HTML.sendable(field.text) else { return nil }
            return try field.change(typed: text)
        }
    }

    /// The prefix of the fields with the values that the form showed at first: a value that the user does not change is
    /// not written, even if another program has changed it.
    static let originalPrefix = "o."

    /// What the form shows at first, for comparison with what it sends.
    var original: String { isOptional && isNull ? Original.none : Original.mark(HTML.sendable(text)) }

    private enum Original {
        static let none = "none"

        /// A short mark of a text, since texts are long.
        static func mark(_ text: String) -> String {
            let hash = text.replacing("\r\n", with: "\n").utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
            return String(hash, radix: 16)
        }
    }

    /// Whether a typed text is another than that of a form without a value.
    private func isFilled(_ typed: String) -> Bool { kind == .boolean ? typed == "true" : !typed.isEmpty }

    private func change(_ value: Any?, _ after: String) -> EditChange {
        EditChange(name: name, before: shown, after: after, action: .value(value))
    }

    private func change(typed text: String) throws -> EditChange? {
        switch kind {
        case .bytes:
            guard let data = HexText.data(text) else {
                throw EditChange.Refusal(message: "“\(name)” needs pairs of hexadecimal digits, such as 00 1f ff.")
            }
            return HexText.digits(of: data) == self.text && !isNull ? nil : change(data, HexText.summary(of: data))
        case .json:
            let data = Data(text.utf8)
            guard (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil else {
                throw EditChange.Refusal(message: "“\(name)” needs JSON; a file may be anything.")
            }
            return change(data, text)
        default:
            let text = HTML.restored(text, like: self.text)
            do { return change(try ValueText.value(text, type), text.isEmpty ? "an empty text" : text) } catch {
                throw EditChange.Refusal(message: "“\(name)” needs \(error.expected).")
            }
        }
    }
}
