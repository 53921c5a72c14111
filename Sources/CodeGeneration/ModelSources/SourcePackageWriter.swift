import Foundation
import ModelFiles

/// Writes source models: an `.xcdatamodeld` with a folder per version, or a single `.xcdatamodel`.
package enum SourcePackageWriter {
    /// One version of a model to write.
    package struct Version: Sendable {
        package var name: String
        package var document: ModelDocument
        package var header: SourceHeader

        package init(name: String, document: ModelDocument, header: SourceHeader = SourceHeader()) {
            self.name = name
            self.document = document
            self.header = header
        }
    }

    /// Writes a package, replacing the former one.
    ///
    /// - Parameters:
    ///   - versions: the versions. An `.xcdatamodel` has one.
    ///   - current: the name of the current version.
    ///   - destination: the `.xcdatamodeld` or `.xcdatamodel`.
    /// - Returns: the parts of the models that the files cannot express, preceded by the version's name if there are
    ///   several.
    /// - Throws: an error in the Cocoa domain that names file, entity and property; nothing is written then.
    @discardableResult
    package static func write(
        _ versions: [Version], current: String, to destination: URL
    ) throws -> [SourceLoss] {
        try ModelFileError.naming(destination) {
            let isPackage = try isPackage(destination, versions)
            guard versions.contains(where: { $0.name == current }) else {
                throw ModelFileError(
                    .unwritable, reason: "the current version, “\(current)”, is not one of its versions")
            }
            var files: [String: Data] = [:]
            var losses: [SourceLoss] = []
            for version in versions {
                guard !version.name.isEmpty, !version.name.contains("/"), !version.name.hasPrefix(".") else {
                    throw ModelFileError(.unwritable, reason: "“\(version.name)” is not a name for a version's folder")
                }
                let text = try contents(of: version)
                for var loss in try SourceLoss.losses(of: version.document, in: text) {
                    if versions.count > 1 { loss.what += " (version “\(version.name)”)" }
                    losses.append(loss)
                }
                let path = isPackage ? "\(version.name).xcdatamodel/contents" : "contents"
                guard files.updateValue(Data(text.utf8), forKey: path) == nil else {
                    throw ModelFileError(.unwritable, reason: "there are two versions named “\(version.name)”")
                }
            }
            if isPackage { files[".xccurrentversion"] = try Data(currentVersion(current).utf8) }
            try ModelFolder.write(files, to: destination)
            return losses
        }
    }

    private static func isPackage(_ url: URL, _ versions: [Version]) throws -> Bool {
        switch url.pathExtension {
        case "xcdatamodeld": return true
        case "xcdatamodel" where versions.count == 1: return false
        case "xcdatamodel":
            throw ModelFileError(
                .unwritable, reason: "an .xcdatamodel holds one version, not \(versions.count); write an .xcdatamodeld")
        default:
            throw ModelFileError(
                .unwritable, reason: "its extension is “\(url.pathExtension)”; xcdatamodeld or xcdatamodel expected")
        }
    }

    private static func contents(of version: Version) throws -> String {
        try DocumentCheck.check(version.document)
        return try SourceWriter.contents(of: version.document, header: version.header)
    }

    /// The property list `.xccurrentversion`, byte for byte as Xcode writes it.
    package static func currentVersion(_ name: String) throws -> String {
        let escaped: String
        do { escaped = try XMLText.content(name) } catch {
            throw ModelFileError(.unwritable, reason: "the name of the current version: \(error)")
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>_XCCurrentVersionName</key>
            \t<string>\(escaped).xcdatamodel</string>
            </dict>
            </plist>

            """
    }
}

/// A part of a model that the XML of Xcode's editor cannot express.
package struct SourceLoss: Equatable, Sendable {
    package var entity: String?
    package var property: String?
    /// The lost part, as the end of a sentence.
    package var what: String

    /// The place and its loss: `Book.cover: its default value`.
    package var text: String {
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        return place.isEmpty ? what : "\(place): \(what)"
    }

    /// The parts of a model that its text does not express, found by reading the text.
    ///
    /// - Throws: `ModelFileError` if the text cannot be read, for example due to an expression that no format string
    ///   spells.
    package static func losses(of document: ModelDocument, in contents: String) throws -> [SourceLoss] {
        let (original, written) = (
            document.withoutImpliedIndexes, try SourceReader.document(of: Data(contents.utf8)).withoutImpliedIndexes
        )
        var losses: [SourceLoss] = []
        func compare<Value: Equatable>(_ left: Value, _ right: Value, _ what: String) {
            if left != right { losses.append(SourceLoss(what: what)) }
        }
        compare(
            Set(original.versionIdentifiers.filter { !$0.isEmpty }).subtracting(written.versionIdentifiers), [],
            "all version identifiers but the first")
        compare(
            original.configurations.mapValues { $0.sorted() }, written.configurations.mapValues { $0.sorted() },
            "its configurations")
        for (name, request) in original.fetchRequestTemplates.sorted(by: { $0.key < $1.key })
        where written.fetchRequestTemplates[name] != request {
            losses.append(SourceLoss(what: "parts of the fetch request “\(name)”, such as its order"))
        }
        for entity in original.entities {
            guard let other = written.entity(named: entity.name) else { continue }
            losses += EntityLosses(entity, other).losses
        }
        return losses
    }
}

/// What an entity loses.
private struct EntityLosses {
    private(set) var losses: [SourceLoss] = []
    private let name: String

    init(_ entity: EntityDocument, _ written: EntityDocument) {
        name = entity.name
        if entity.userInfo != written.userInfo { add(nil, "entries of its user info that are not texts") }
        if entity.indexes != written.indexes { add(nil, "parts of its indexes") }
        if entity.spotlightDisplayName != written.spotlightDisplayName { add(nil, "the name that Spotlight shows") }
        for constraint in entity.uniquenessConstraints where constraint.contains(where: entity.isElement) {
            add(nil, "its uniqueness constraint on \(constraint.joined(separator: ", ")), which no source may have")
        }
        for property in entity.properties {
            guard let other = written.property(named: property.name) else { continue }
            compare(property, other, path: property.name)
        }
    }

    private mutating func add(_ property: String?, _ what: String) {
        losses.append(SourceLoss(entity: name, property: property, what: what))
    }

    private mutating func compare(_ property: PropertyDocument, _ written: PropertyDocument, path: String) {
        if property.userInfo != written.userInfo { add(path, "entries of its user info that are not texts") }
        if property.validation != written.validation {
            add(path, "its validation predicates, which are no bounds or pattern")
        }
        switch (property.kind, written.kind) {
        case (.attribute(let attribute), .attribute(let other)): compare(attribute, other, path: path)
        case (.relationship(let relationship), .relationship(let other)):
            if relationship.normalized != other.normalized { add(path, "its counts") }
        case (.fetched(let request), .fetched(let other)):
            if request != other { add(path, "parts of its fetch request, such as its order") }
        default: add(path, "its kind")
        }
    }

    private mutating func compare(_ attribute: AttributeDocument, _ written: AttributeDocument, path: String) {
        if let value = attribute.defaultValue {
            let text = SourceValueText.text(of: value, type: attribute.type)
            let other = written.defaultValue.flatMap { SourceValueText.text(of: $0, type: attribute.type) }
            if text == nil || text != other { add(path, "its default value") }
        }
        if attribute.derivation != written.derivation { add(path, "its derivation expression") }
        if attribute.valueClassName != written.valueClassName { add(path, "the class of its value") }
        for element in attribute.elements {
            guard let other = written.elements.first(where: { $0.name == element.name }) else { continue }
            compare(element, other, path: "\(path).\(element.name)")
        }
    }
}

extension RelationshipDocument {
    /// A number below 1 means no bound.
    fileprivate var normalized: RelationshipDocument {
        var result = self
        result.maxCount = max(maxCount, 0)
        return result
    }
}
