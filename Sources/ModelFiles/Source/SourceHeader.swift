import Foundation

/// The information in a source model about the tools that made it, and about CloudKit. A model in use has none of it;
/// it is kept so that writing a file again does not change it.
package struct SourceHeader: Equatable, Sendable {
    /// Xcode's build of its editor, the system's build, and the oldest Xcode that may read the file. The first two
    /// default to those of the files from which the format is known.
    package var lastSavedToolsVersion: String? = "22758"
    package var systemVersion: String? = "23E224"
    package var minimumToolsVersion: String? = "Automatic"
    package var sourceLanguage: String? = "Swift"
    package var usesCloudKit = false
    /// The configurations that are synchronized.
    package var cloudKitConfigurations: Set<String> = []

    package init() {}

    /// The header of a file.
    ///
    /// - Throws: `ModelFileError` if it is not XML.
    package init(contents: Data) throws {
        let root = try SourceElement.root(of: contents)
        lastSavedToolsVersion = root.string("lastSavedToolsVersion")
        systemVersion = root.string("systemVersion")
        minimumToolsVersion = root.string("minimumToolsVersion")
        sourceLanguage = root.string("sourceLanguage")
        usesCloudKit = root.isUsedWithCloudKit
        let synchronized = root.children(named: "configuration").filter(\.isUsedWithCloudKit)
        cloudKitConfigurations = Set(synchronized.compactMap { $0.string("name") })
    }
}

extension SourceElement {
    fileprivate var isUsedWithCloudKit: Bool { string("usedWithCloudKit").flatMap(Self.boolean) ?? false }
}

extension SourceElement {
    /// The element that a message is about, and the enclosing entity and property.
    struct Place {
        var entity: String?
        var property: String?
    }

    func error(_ place: Place, _ reason: String) -> ModelFileError {
        ModelFileError(entity: place.entity, property: place.property, line: line > 0 ? line : nil, reason: reason)
    }

    func string(_ key: String) -> String? {
        guard let value = attributes[key], !value.isEmpty else { return nil }
        return value
    }

    func requiredName(_ place: Place) throws -> String {
        guard let name = string("name") else { throw error(place, "<\(self.name)> has no name") }
        return name
    }

    /// The meaning of a text as `YES` or `NO`, in any spelling: older tools also wrote `true`, `yes` or `1`.
    static func boolean(of text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1", "y", "t": true
        case "no", "false", "0", "n", "f": false
        default: nil
        }
    }

    /// `YES` or `NO` if the value has no meaning for a store, so that anything else is accepted as well;
    /// `SourceWarnings` reports it.
    func lenientBoolean(_ key: String) -> Bool { string(key).flatMap(Self.boolean(of:)) ?? false }

    /// `YES` or `NO`.
    func boolean(_ key: String, default defaultValue: Bool = false, _ place: Place) throws -> Bool {
        guard let text = string(key) else { return defaultValue }
        guard let value = Self.boolean(of: text) else {
            throw error(place, "\(key) is “\(text)”; YES or NO expected")
        }
        return value
    }

    func integer(_ key: String, default defaultValue: Int = 0, _ place: Place) throws -> Int {
        guard let text = string(key) else { return defaultValue }
        guard let value = Int(text) else { throw error(place, "\(key) is “\(text)”; a whole number expected") }
        return value
    }

    /// Seconds since 2001.
    func timeInterval(_ key: String, _ place: Place) throws -> Date? {
        guard let text = string(key) else { return nil }
        guard let seconds = Double(text), seconds.isFinite else {
            throw error(place, "\(key) is “\(text)”; seconds since 2001 expected")
        }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// The entries of the `userInfo` child.
    var userInfo: [String: ModelValue] {
        var entries: [String: ModelValue] = [:]
        for entry in children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            // The editor makes an entry before it has a key. A warning names it.
            guard let key = entry.string("key") else { continue }
            entries[key] = .string(entry.attributes["value"] ?? "")
        }
        return entries
    }
}
