import Foundation
import ModelFiles

/// Writes a model as the XML of Xcode's model editor: the `contents` of an `.xcdatamodel`.
///
/// Entities, attributes and relationships are sorted by name, as Xcode sorts them, so that a change of the model
/// changes only the lines concerned. What the XML cannot express is left out, and can be listed (``SourceLoss``).
package enum SourceWriter {
    /// The file's text. Like Xcode's, it does not end with a line break.
    ///
    /// - Throws: `ModelFileError` with the place of a text that XML cannot contain.
    package static func contents(of document: ModelDocument, header: SourceHeader = SourceHeader()) throws -> String {
        let composites = CompositeTypes(of: document.withoutImpliedIndexes)
        let document = composites.document
        var root = XMLElementText("model")
        root.set("type", "com.apple.IDECoreDataModeler.DataModel")
        root.set("documentVersion", "1.0")
        root.set("lastSavedToolsVersion", header.lastSavedToolsVersion)
        root.set("systemVersion", header.systemVersion)
        root.set("minimumToolsVersion", header.minimumToolsVersion)
        root.set("sourceLanguage", header.sourceLanguage)
        root.set("usedWithCloudKit", header.usesCloudKit)
        // A merged model can have an empty one beside that of a version.
        let identifier = document.versionIdentifiers.filter { !$0.isEmpty }.min() ?? ""
        root.set("userDefinedModelVersionIdentifier", identifier)
        root.children = document.entities.sorted { EditorOrder.precedes($0.name, $1.name) }.map(entity)
        root.children += composites.definitions.sorted { EditorOrder.precedes($0.name, $1.name) }.map(composite)
        for (name, request) in document.fetchRequestTemplates.sorted(by: { EditorOrder.precedes($0.key, $1.key) }) {
            root.children.append(fetchRequest(request, name: name))
        }
        for (name, members) in document.configurations.sorted(by: { EditorOrder.precedes($0.key, $1.key) }) {
            var element = XMLElementText("configuration")
            element.set("name", name)
            element.set("usedWithCloudKit", header.cloudKitConfigurations.contains(name))
            element.children = members.sorted(by: EditorOrder.precedes).map { named("memberEntity", "name", $0) }
            root.children.append(element)
        }
        return try "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + root.text()
    }

    static func named(_ element: String, _ key: String, _ value: String) -> XMLElementText {
        var result = XMLElementText(element)
        result.set(key, value)
        return result
    }

    private static func entity(_ entity: EntityDocument) -> XMLElementText {
        var element = XMLElementText("entity")
        element.set("name", entity.name)
        element.set("representedClassName", className(of: entity))
        element.set("isAbstract", entity.isAbstract)
        element.set("parentEntity", entity.parentName)
        element.set("versionHashModifier", entity.versionHashModifier)
        element.set("elementID", entity.renamingIdentifier)
        element.set("syncable", true)
        element.set("coreSpotlightDisplayNameExpression", entity.spotlightDisplayName?.format)
        element.set("codeGenerationType", entity.codeGeneration == .none ? nil : entity.codeGeneration.rawValue)
        let properties = entity.properties.sorted { EditorOrder.precedes($0.name, $1.name) }
        for property in properties {
            guard let attribute = property.attribute else { continue }
            element.children.append(self.attribute(property, attribute, isIndexed: isMarked(property, in: entity)))
        }
        for property in properties {
            guard let relationship = property.relationship else { continue }
            element.children.append(self.relationship(property, relationship))
        }
        for property in properties {
            if case .fetched(let request) = property.kind {
                element.children.append(fetchedProperty(property, request))
            }
        }
        element.children += entity.indexes.map(index)
        element.children += list("compoundIndex", "index", entity.compoundIndexesBesideFetchIndexes)
        // A text with a constraint on an element of a composite attribute could not be read.
        let constraints = entity.uniquenessConstraints.filter { !$0.contains(where: entity.isElement) }
        element.children += list("uniquenessConstraint", "constraint", constraints)
        element.children += userInfo(entity.userInfo)
        return element
    }

    /// The class; a leading period stands for the current product module.
    private static func className(of entity: EntityDocument) -> String {
        let name = entity.className ?? "NSManagedObject"
        guard entity.isClassInCurrentModule else { return name }
        return "." + (name.split(separator: ".").last.map(String.init) ?? name)
    }

    /// Whether a property gets the mark “indexed”: only if no index covers just that property.
    private static func isMarked(_ property: PropertyDocument, in entity: EntityDocument) -> Bool {
        property.isIndexed
            && !entity.indexes.contains { $0.predicate == nil && $0.elements.map(\.propertyName) == [property.name] }
    }

    /// `<uniquenessConstraints><uniquenessConstraint><constraint value="name"/>…`
    private static func list(_ name: String, _ part: String, _ values: [[String]]) -> [XMLElementText] {
        if values.isEmpty { return [] }
        let plural = name == "compoundIndex" ? "compoundIndexes" : "uniquenessConstraints"
        var element = XMLElementText(plural)
        element.children = values.map { members in
            var entry = XMLElementText(name)
            entry.children = members.map { named(part, "value", $0) }
            return entry
        }
        return [element]
    }

    static func userInfo(_ entries: [String: ModelValue]) -> [XMLElementText] {
        if entries.isEmpty { return [] }
        var element = XMLElementText("userInfo")
        element.children = entries.sorted { EditorOrder.precedes($0.key, $1.key) }.map { key, value in
            var entry = named("entry", "key", key)
            entry.set("value", SourceValueText.userInfo(value) ?? "")
            return entry
        }
        return [element]
    }

    private static func index(_ index: IndexDocument) -> XMLElementText {
        var element = named("fetchIndex", "name", index.name)
        element.set("partialIndexPredicate", index.predicate?.format)
        element.children = index.elements.map { part in
            var entry = XMLElementText("fetchIndexElement")
            switch part.subject {
            case .property(let name): entry.set("property", name)
            case .expression(_, let tree, let type):
                entry.set("expression", tree?.format ?? "")
                if type != .undefinedAttributeType { entry.set("expressionType", SourceValueText.name(of: type)) }
            }
            entry.set("type", part.type == .rTree ? "RTree" : "Binary")
            entry.set("order", part.isAscending ? "ascending" : "descending")
            return entry
        }
        return element
    }
}

/// Values as the editor writes them. Pure; `SourceReader.value` is the inverse.
enum SourceValueText {
    /// The type by its name in Xcode's files.
    static func name(of type: NSAttributeType) -> String {
        SourceReader.attributeTypes.first { $0.value == type }?.key ?? "Undefined"
    }

    /// Whether generated code can use a Swift number, date or UUID instead of an object, so that the file says which.
    static func hasScalarType(_ type: NSAttributeType) -> Bool {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType, .dateAttributeType, .UUIDAttributeType:
            true
        default: false
        }
    }

    /// The text of a default value or a bound; nil if the editor cannot write it, or would not read it, as what is not
    /// finite or beyond the type's range.
    static func text(of value: ModelValue, type: NSAttributeType) -> String? {
        if case .double(let number) = value, !number.isFinite { return nil }
        guard let text = written(value, type: type) else { return nil }
        if case .date(let date) = value { return date.timeIntervalSinceReferenceDate.isFinite ? text : nil }
        return SourceReader.reads(text, as: type) ? text : nil
    }

    private static func written(_ value: ModelValue, type: NSAttributeType) -> String? {
        switch (type, value) {
        case (.booleanAttributeType, .boolean(let flag)): flag ? "YES" : "NO"
        case (.booleanAttributeType, .integer(let number)): number == 0 ? "NO" : "YES"
        case (.integer16AttributeType, .integer(let number)), (.integer32AttributeType, .integer(let number)),
            (.integer64AttributeType, .integer(let number)):
            "\(number)"
        case (.doubleAttributeType, .double(let number)), (.floatAttributeType, .double(let number)): "\(number)"
        case (.doubleAttributeType, .integer(let number)), (.floatAttributeType, .integer(let number)):
            "\(Double(number))"
        case (.decimalAttributeType, .decimal(let number)): decimal(number)
        case (.decimalAttributeType, .integer(let number)): "\(number).0"
        case (.decimalAttributeType, .double(let number)): decimal(Decimal(number))
        case (.stringAttributeType, .string(let text)): text
        case (.dateAttributeType, .date(let date)): interval(date)
        case (.UUIDAttributeType, .uuid(let uuid)): uuid.uuidString
        case (.URIAttributeType, .url(let url)): url
        default: nil
        }
    }

    /// Seconds since 2001, whole ones without a fraction.
    static func interval(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        return Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
    }

    /// The user info of the editor has texts only.
    static func userInfo(_ value: ModelValue) -> String? {
        if case .string(let text) = value { return text }
        return nil
    }

    /// Whole numbers with a fraction of 0, as the editor writes them.
    private static func decimal(_ number: Decimal) -> String {
        let digits = number.description
        return digits.contains(".") || number.isNaN ? digits : digits + ".0"
    }
}

extension ModelDocument {
    /// The model with the initial settings of Xcode's editor, for one from a compiled form, which does not contain
    /// them: generated code uses Swift's own types for numbers and Booleans.
    package var withEditorDefaults: ModelDocument {
        var result = self
        for entity in result.entities.indices {
            for property in result.entities[entity].properties.indices {
                guard case .attribute(var attribute) = result.entities[entity].properties[property].kind else {
                    continue
                }
                guard attribute.type.valueClassName == "NSNumber" else { continue }
                attribute.usesScalarType = true
                result.entities[entity].properties[property].kind = .attribute(attribute)
            }
        }
        return result
    }
}

/// An element of a source model as text: attributes in the given order, four spaces per level, as Xcode writes them.
/// Pure.
struct XMLElementText: Equatable {
    let name: String
    private(set) var attributes: [(name: String, value: String)] = []
    var children: [XMLElementText] = []

    init(_ name: String) { self.name = name }

    /// Adds an attribute; `nil` adds none.
    @inline(never)
    mutating func set(_ name: String, _ value: String?) {
        if let value { attributes.append((name, value)) }
    }

    /// Adds `YES`, or nothing.
    mutating func set(_ name: String, _ value: Bool) { set(name, value ? "YES" : nil) }

    static func == (left: XMLElementText, right: XMLElementText) -> Bool {
        left.name == right.name && left.children == right.children
            && left.attributes.elementsEqual(right.attributes) { $0 == $1 }
    }

    /// The element and its content, without a line break at the end.
    ///
    /// - Throws: `ModelFileError` with the place of a text that XML cannot contain.
    func text() throws -> String { try text(margin: "", path: []) }

    /// - Parameters:
    ///   - margin: the white space before each line.
    ///   - path: the enclosing elements, for errors.
    /// - Returns: the XML of the element.
    /// - Throws: an error that names the element with text that XML cannot contain.
    private func text(margin: String, path: [String]) throws -> String {
        let key = attributes.first { $0.name == "name" || $0.name == "key" }
        let list = try attributes.map { attribute in
            do { return " \(attribute.name)=\"\(try XMLText.attributeValue(attribute.value))\"" } catch {
                let own = key.map { $0 == attribute ? name : "\(name) “\($0.value)”" } ?? name
                let place = (path + [own]).joined(separator: ", ")
                throw ModelFileError(.unwritable, reason: "“\(attribute.name)” of \(place): \(error)")
            }
        }.joined()
        if children.isEmpty { return "\(margin)<\(name)\(list)/>" }
        let inside = path + (key.map { ["\(name) “\($0.value)”"] } ?? [])
        let content = try children.map { try $0.text(margin: margin + "    ", path: inside) }
        return "\(margin)<\(name)\(list)>\n\(content.joined(separator: "\n"))\n\(margin)</\(name)>"
    }
}
