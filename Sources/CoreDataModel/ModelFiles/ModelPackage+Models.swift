import Foundation
import ModelFiles

extension ModelPackage {
    /// Reads one version as a model, with the package's version hashes.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    package func model(version name: String? = nil, moduleName: String? = nil) throws -> NSManagedObjectModel {
        let version = try version(named: name ?? currentVersionName)
        let document = try document(version: version.name, moduleName: moduleName)
        return try ModelFileError.naming(Self.file(of: version)) {
            let model = try ModelAssembler.model(document, versionHashes: recordedHashes(version: version.name))
            model.origin = NSManagedObjectModel.Origin(package: url, versionName: version.name)
            model.recordedVersionChecksum = info.hashesAreOurs ? nil : info.checksums[version.name]
            return model
        }
    }

    /// Reads one version as a model, with the words of the strings file beside the package.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    func localizedModel(version name: String? = nil) throws -> NSManagedObjectModel {
        let model = try model(version: name)
        model.localizationDictionary = ModelStrings.dictionary(beside: url)
        return model
    }

    /// The first version whose entities have a store's version hashes; nil if there is none.
    ///
    /// - Parameters:
    ///   - metadata: the store's metadata.
    ///   - configuration: the configuration of the store.
    /// - Returns: the model of that version.
    /// - Throws: the errors of reading the versions, with the file.
    package func model(
        compatibleWith metadata: [String: Any], configuration: String? = nil
    ) throws -> NSManagedObjectModel? {
        let names = versions.map(\.name)
        let currentFirst = names.filter(isCurrent) + names.filter { !isCurrent($0) }
        for name in currentFirst {
            let model = try model(version: name)
            if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return model }
        }
        return nil
    }
}

/// The words of a model: the file `<Name>Model.strings` beside a model `<Name>`, in the folder of a language or none.
enum ModelStrings {
    /// - Parameters:
    ///   - url: the model's file or package.
    ///   - languages: the languages that are wanted, the most wanted first.
    /// - Returns: the words in the first of these languages that has a file, else those for all languages, else those
    ///   in the language of the bundle's developers, else English ones; nil if there is no file that holds words.
    static func dictionary(beside url: URL, languages: [String] = preferredLanguages()) -> [String: String]? {
        let folder = url.deletingLastPathComponent()
        let name = url.deletingPathExtension().lastPathComponent + "Model.strings"
        func files(in folders: [String]) -> [URL] {
            folders.map { folder.appendingPathComponent($0 + ".lproj").appendingPathComponent(name) }
        }
        let last = (developmentRegion(of: folder).map { [$0] } ?? []) + ["en"]
        let places =
            files(in: languages.flatMap(spellings) + ["Base"]) + [folder.appendingPathComponent(name)]
            + files(in: last.flatMap(spellings))
        for file in places {
            // A file that cannot be read does not hide the next one.
            guard let data = FileManager.default.contents(atPath: file.path),
                let words = try? PropertyList.foundationObject(of: data) as? [String: Any]
            else { continue }
            return words.compactMapValues { $0 as? String }
        }
        return nil
    }

    /// The language of the bundle that a folder of resources belongs to.
    private static func developmentRegion(of folder: URL) -> String? {
        let isInside = folder.lastPathComponent == "Resources"
        for place in [folder] + (isInside ? [folder.deletingLastPathComponent()] : []) {
            let file = place.appendingPathComponent("Info.plist")
            guard let data = FileManager.default.contents(atPath: file.path),
                let facts = try? PropertyList.foundationObject(of: data) as? [String: Any]
            else { continue }
            return facts["CFBundleDevelopmentRegion"] as? String
        }
        return nil
    }

    /// The folders of a language: `de-AT` is also written `de_AT`, and what is not there for Austria is for all who
    /// speak German; `zh_TW` is in `zh-Hant`, and Xcode 3 had `German`.
    private static func spellings(of language: String) -> [String] {
        let parts = language.split { $0 == "-" || $0 == "_" }.map(String.init)
        guard let first = parts.first else { return [] }
        var result: [String] = []
        for count in (1...parts.count).reversed() {
            let known = parts.prefix(count)
            if count == 1, first == "zh" { result += chinese(parts) }
            result += count < 2 ? [first] : [known.joined(separator: "-"), known.joined(separator: "_")]
        }
        if first == "nb" || first == "no" { result.append(first == "nb" ? "no" : "nb") }
        if let name = englishNames[first] { result.append(name) }
        return result
    }

    /// The folders of Chinese in the script of a region: Apple's are named after the script.
    private static func chinese(_ parts: [String]) -> [String] {
        let isTraditional = !Set(parts).isDisjoint(with: ["Hant", "TW", "HK", "MO"])
        return isTraditional ? ["zh-Hant", "zh_Hant", "zh_TW"] : ["zh-Hans", "zh_Hans", "zh_CN"]
    }

    private static let englishNames = [
        "da": "Danish", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French",
        "it": "Italian", "ja": "Japanese", "ko": "Korean", "nb": "Norwegian", "nl": "Dutch", "no": "Norwegian",
        "pt": "Portuguese", "sv": "Swedish",
    ]

    /// The language of the environment, by POSIX's variables, which Foundation does not look at on Linux; then
    /// Foundation's.
    static func preferredLanguages(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        let values = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
        let value = values.first { !$0.isEmpty }?.prefix { $0 != "." && $0 != "@" } ?? ""
        return (value.isEmpty || value == "C" || value == "POSIX" ? [] : [String(value)]) + Locale.preferredLanguages
    }
}

extension SourceModelCompiler {
    /// The content of a `.mom` file.
    ///
    /// - Throws: an error in the Cocoa domain that names the entity and property which no archive can hold.
    package static func compiledData(of model: NSManagedObjectModel, file: URL? = nil) throws -> Data {
        try ModelFileError.naming(file) { try compiledData(of: ModelDocument(model)) }
    }
}
