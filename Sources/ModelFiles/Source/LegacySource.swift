import Foundation

/// Reads `elements`, the file of an `.xcdatamodel` of Xcode 3: a keyed archive of the editor's own objects. They are
/// converted into the form of the XML that later versions write, so that one reader handles both.
///
/// The facts of an entity or a property are `_default`s of properties of its stereotypes: whether an attribute is
/// optional is `XD_PPSK_isOptional` of `XD_PPropStereotype`. No known file contained fetch requests or fetched
/// properties: they have no meaning for a store, and are left out.
enum LegacySource {
    /// The root element, `model`.
    ///
    /// - Throws: `PropertyListError`, `KeyedArchiveError` or `ModelFileError` for any other file.
    static func model(of data: Data) throws -> SourceElement {
        let root = try KeyedArchive(data: data).root()
        guard root.isKind(of: "XDPMModel") else {
            throw ModelFileError(.corrupt, reason: "it holds an object of the class \(root.className), not a model")
        }
        var model = SourceElement("model")
        model.set("userDefinedModelVersionIdentifier", try root.text("_modelVersionIdentifier"))
        let package = try root.object(forKey: "_xd_rootPackage")
        model.children = try members(of: package, "XDBucketForClassesstorage").map(entity)
        return model
    }

    private static func entity(_ object: ArchivedObject) throws -> SourceElement {
        let facts = try LegacyFacts(of: object)
        var element = SourceElement("entity")
        element.set("name", try object.text("_name"))
        element.set("representedClassName", try facts.text("XD_PSK_entityClassName"))
        element.set("isAbstract", try facts.text("XD_PSK_isAbstract"))
        element.set("versionHashModifier", try facts.text("XD_PSK_versionHashModifier"))
        element.set("elementID", try facts.text("XD_PSK_elementID"))
        let parent = try object.optionalObjects(forKey: "XDBucketForGeneralizationsstorage")?.first
        element.set("parentEntity", try parent?.optionalObject(forKey: "_general")?.text("_name"))
        for member in try members(of: object, "XDBucketForOwnedAttributesstorage") {
            if member.isKind(of: "XDPMAttribute") { element.children.append(try attribute(member)) }
            if member.isKind(of: "XDPMRelationship") { element.children.append(try relationship(member)) }
        }
        element.children += try facts.nameLists(
            "XDPMUniquenessConstraints", "uniquenessConstraints", "uniquenessConstraint", "constraint")
        element.children += try facts.nameLists(
            "XDPMCompoundIndexes", "compoundIndexes", "compoundIndex", "index")
        element.children += try facts.userInfo("XD_PSK_userInfo")
        return element
    }

    private static func attribute(_ object: ArchivedObject) throws -> SourceElement {
        let facts = try LegacyFacts(of: object)
        var element = SourceElement("attribute")
        try setCommon(object, facts, on: &element)
        let number = try facts.integer("XD_PAttK_attributeType") ?? 0
        guard let type = NSAttributeType(rawValue: UInt(clamping: number)),
            let name = SourceReader.attributeTypes.first(where: { $0.value == type })?.key
        else { throw element.error(.init(property: try object.text("_name")), "\(number) is not an attribute type") }
        element.set("attributeType", name)
        for (key, fact) in [
            ("defaultValueString", "XD_PAttK_defaultValueAsString"), ("minValueString", "XD_PAttK_minValueString"),
            ("maxValueString", "XD_PAttK_maxValueString"),
            ("regularExpressionString", "XD_PAttK_regularExpressionString"),
            ("valueTransformerName", "XD_PAttK_valueTransformerName"),
            ("allowsExternalBinaryDataStorage", "XD_PAttK_allowsExternalBinaryDataStorage"),
        ] { element.set(key, try facts.text(fact)) }
        return element
    }

    private static func relationship(_ object: ArchivedObject) throws -> SourceElement {
        let facts = try LegacyFacts(of: object)
        var element = SourceElement("relationship")
        try setCommon(object, facts, on: &element)
        let maximum = try facts.integer("XD_PRK_maxCount") ?? 0
        let isToMany = try facts.text("XD_PRK_isToMany").map { $0 == "YES" } ?? (maximum != 1)
        element.set("toMany", isToMany ? "YES" : nil)
        if let minimum = try facts.integer("XD_PRK_minCount"), minimum > 0 { element.set("minCount", "\(minimum)") }
        if !isToMany || maximum > 0 { element.set("maxCount", isToMany ? "\(maximum)" : "1") }
        let rules = ["No Action", "Nullify", "Cascade", "Deny"]
        if let rule = try facts.integer("XD_PRK_deleteRule"), rules.indices.contains(Int(clamping: rule)) {
            element.set("deletionRule", rules[Int(clamping: rule)])
        }
        element.set("ordered", try facts.text("XD_PRK_ordered"))
        element.set("destinationEntity", try facts.object("XD_PRK_destination")?.text("_name"))
        element.set("inverseName", try facts.object("XD_PRK_inverseRelationship")?.text("_name"))
        return element
    }

    private static func setCommon(
        _ object: ArchivedObject, _ facts: LegacyFacts, on element: inout SourceElement
    ) throws {
        element.set("name", try object.text("_name"))
        for (key, fact) in [
            ("optional", "XD_PPSK_isOptional"), ("transient", "XD_PPSK_isTransient"), ("indexed", "XD_PPSK_isIndexed"),
            ("spotlightIndexingEnabled", "XD_PPSK_isSpotlightIndexed"),
            ("storedInTruthFile", "XD_PPSK_isStoredInTruthFile"),
            ("versionHashModifier", "XD_PPSK_versionHashModifier"), ("elementID", "XD_PPSK_elementID"),
        ] { element.set(key, try facts.text(fact)) }
        element.children += try facts.userInfo("XD_PPSK_userInfo")
    }

    /// The objects of an archived dictionary, by name, or of the array that Xcode 2 had in its place.
    private static func members(of owner: ArchivedObject, _ key: String) throws -> [ArchivedObject] {
        if let elements = try owner.optionalObject(forKey: key)?.elements() {
            return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
        }
        let objects = try (owner.optionalPairs(forKey: key) ?? []).compactMap { pair -> (String, ArchivedObject)? in
            guard case .object(let object) = pair.value else { return nil }
            return (try object.text("_name") ?? "", object)
        }
        return objects.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// The facts of an element of an old model, from all its stereotypes.
private struct LegacyFacts {
    private var holders: [String: ArchivedObject] = [:]

    init(of object: ArchivedObject) throws {
        for (_, value) in try object.optionalPairs(forKey: "XDBucketForStereotypesstorage") ?? [] {
            guard case .object(let stereotype) = value else { continue }
            for (key, holder) in try stereotype.optionalPairs(forKey: "XDBucketForOwnedAttributesstorage") ?? [] {
                guard let name = try key.string(), case .object(let holder) = holder else { continue }
                holders[name] = holder
            }
        }
    }

    func text(_ fact: String) throws -> String? { try holders[fact]?.text("_default") }

    func object(_ fact: String) throws -> ArchivedObject? { try holders[fact]?.optionalObject(forKey: "_default") }

    func integer(_ fact: String) throws -> Int64? { try text(fact).flatMap { Int64($0) } }

    /// `<uniquenessConstraints><uniquenessConstraint><constraint value="…"/>`: lists of properties' names.
    func nameLists(
        _ fact: String, _ listsName: String, _ listName: String, _ name: String
    ) throws -> [SourceElement] {
        guard let lists = try object(fact)?.elements(), !lists.isEmpty else { return [] }
        var all = SourceElement(listsName)
        for case .object(let members) in lists {
            var list = SourceElement(listName)
            for member in try members.elements() ?? [] {
                var element = SourceElement(name)
                element.set("value", try member.string())
                list.children.append(element)
            }
            all.children.append(list)
        }
        return [all]
    }

    /// `<userInfo><entry key="…" value="…"/>`: the editor of later versions has texts only.
    func userInfo(_ fact: String) throws -> [SourceElement] {
        var info = SourceElement("userInfo")
        for (key, value) in try holders[fact]?.optionalPairs(forKey: "_default") ?? [] {
            guard let key = try key.string(), let value = try value.string() else { continue }
            var entry = SourceElement("entry")
            entry.set("key", key)
            entry.set("value", value)
            info.children.append(entry)
        }
        return info.children.isEmpty ? [] : [info]
    }
}

extension ArchivedObject {
    /// A scalar as the XML would contain it; nil for none.
    fileprivate func text(_ key: String) throws -> String? {
        switch try value(forKey: key) {
        case .null: return nil
        case .plain(.string(let text)): return text
        case .plain(.boolean(let flag)): return flag ? "YES" : "NO"
        case .plain(.integer(let number)): return "\(number)"
        case .plain(.real(let number)): return "\(number)"
        case let value:
            if let number = try value.foundationValue() as? NSDecimalNumber { return number.stringValue }
            return try value.string()
        }
    }
}

extension SourceElement {
    fileprivate init(_ name: String) { self.init(name: name, attributes: [:], line: 0) }

    fileprivate mutating func set(_ key: String, _ value: String?) {
        if let value { attributes[key] = value }
    }
}
