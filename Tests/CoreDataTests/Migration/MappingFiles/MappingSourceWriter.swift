import Foundation
import ModelFiles

/// Writes `xcmapping.xml` in Xcode's layout, so that tests can make such files: one that was read is written unchanged,
/// byte for byte.
enum MappingSourceWriter {
    /// The file's text.
    ///
    /// - Throws: `ModelFileError` with the place of a text that XML cannot contain.
    static func contents(of source: MappingSource) throws -> String {
        var text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(try escaped(source.uuid, "the UUID"))</UUID>
                    <nextObjectID>\(source.nextKey)</nextObjectID>
                    <metadata>
            \(try metadata(source))
                    </metadata>
                </databaseInfo>

            """
        for object in source.objects { try append(object, to: &text) }
        text += "</database>"
        return text
    }

    /// The version hashes of the editor's own entities, as in every file of Xcode's; its editor opens no other.
    private static let editorHashes = [
        ("XDDevAttributeMapping", "0plcXXRN7XHKl5CcF+fwriFmUpON3ZtcI/AfK748aWc="),
        ("XDDevEntityMapping", "qeN1Ym3TkWN1G6dU9RfX6Kd2ccEvcDVWHpd3LpLgboI="),
        ("XDDevMappingModel", "EqtMzvRnVZWkXwBHu4VeVGy8UyoOe+bi67KC79kphlQ="),
        ("XDDevPropertyMapping", "XN33V44TTGY4JETlMoOB5yyTKxB+u4slvDIinv0rtGA="),
        ("XDDevRelationshipMapping", "akYY9LhehVA/mCb4ATLWuI9XGLcjpm14wWL1oEBtIcs="),
    ]
    private static let editorDigest =
        "+Hmc2uYZK6og+Pvx5GUJ7oW75UG4V/ksQanTjfTKUnxyGWJRMtB5tIRgVwGsrd7lz/QR57++wbvWsr6nxwyS0A=="

    private static func metadata(_ source: MappingSource) throws -> String {
        let hashes = editorHashes.map { name, hash in
            """
                                    <key>\(name)</key>
                                    <data>
            \t\t\(hash)
            \t\t</data>
            """
        }.joined(separator: "\n")
        let checksum = try source.checksum.map {
            """

                                <key>NSStoreModelVersionChecksumKey</key>
                                <string>\(try escaped($0, "the checksum"))</string>
            """
        }
        return """
                        <plist version="1.0">
                            <dict>
                                <key>NSPersistenceFrameworkVersion</key>
                                <integer>\(source.frameworkVersion)</integer>\(checksum ?? "")
                                <key>NSStoreModelVersionHashes</key>
                                <dict>
            \(hashes)
                                </dict>
                                <key>NSStoreModelVersionHashesDigest</key>
                                <string>\(editorDigest)</string>
                                <key>NSStoreModelVersionHashesVersion</key>
                                <integer>3</integer>
                                <key>NSStoreModelVersionIdentifiers</key>
                                <array>
                                    <string></string>
                                </array>
                            </dict>
                        </plist>
            """
    }

    private static func append(_ object: MappingSource.Object, to text: inout String) throws {
        text += "    <object type=\"\(object.kind.rawValue)\" id=\"z\(object.key)\">\n"
        for field in object.fields {
            let value = try escaped(XMLStoreText.encoded(field.text), "“\(field.name)” of object \(object.key)")
            text += "        <attribute name=\"\(field.name)\" type=\"\(type(of: field.name))\">\(value)</attribute>\n"
        }
        for reference in object.references {
            let (bounds, kind) = destination(of: reference.name)
            text +=
                "        <relationship name=\"\(reference.name)\" type=\"\(bounds)\" destination=\"\(kind.rawValue)\""
            if !reference.keys.isEmpty {
                text += " idrefs=\"\(reference.keys.map { "z\($0)" }.joined(separator: " "))\""
            }
            text += "></relationship>\n"
        }
        text += "    </object>\n"
    }

    private static func type(of field: String) -> String {
        switch field {
        case "mappingnumber": "int16"
        case "autogenerateexpression": "bool"
        default: field.hasSuffix("data") ? "binary" : "string"
        }
    }

    private static func destination(of relationship: String) -> (bounds: String, kind: MappingSource.Kind) {
        switch relationship {
        case "mappingmodel": ("1/1", .model)
        case "entitymapping": ("1/1", .entity)
        case "entitymappings": ("0/0", .entity)
        case "attributemappings": ("0/0", .attribute)
        default: ("0/0", .relationship)
        }
    }

    private static func escaped(_ text: String, _ place: String) throws(ModelFileError) -> String {
        do { return try XMLText.content(text) } catch {
            throw ModelFileError(.unwritable, reason: "\(place): \(error)")
        }
    }
}
