import Foundation
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Bounds of attributes, and pippin model validate")
struct BoundsTests {
    @Test(
        "A minimum above the maximum, and a default outside of them, are warnings",
        arguments: [
            (
                #"attributeType="Integer 16" minValueString="5" maxValueString="3""#,
                "the minimum, 5, is more than the maximum, 3, so that no value is valid"
            ),
            (
                #"attributeType="Integer 16" maxValueString="8" defaultValueString="9""#,
                "the default value, 9, is above the maximum, 8"
            ),
            (
                #"attributeType="String" minValueString="5" defaultValueString="ab""#,
                "the length of the default value, “ab”, is below the minimum, 5"
            ),
        ])
    func bounds(attribute: String, text: String) throws {
        try inTestFolder { folder in
            let model = folder.appendingPathComponent("M.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            let source = #"<model><entity name="A"><attribute name="a" optional="YES" \#(attribute)/></entity></model>"#
            try Data(source.utf8).write(to: model.appendingPathComponent("contents"))
            let run = CommandRun("model", "validate", model.path)
            #expect(run.status == 0)
            #expect(run.output.contains("  warning: A.a: \(text)\n"), "\(run.output)")
        }
    }
}
