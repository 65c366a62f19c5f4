/** Corrections of Swagger UI: the page is compact, fits a phone, and shows the body of errors once. */
export const PAGE_STYLE = `.swagger-ui .info {
  margin: 24px 0 16px;
}
.swagger-ui .info h2 {
  font-size: 20px;
  margin: 28px 0 10px;
}
.swagger-ui .info p,
.swagger-ui .info li,
.swagger-ui .info td {
  line-height: 1.5;
}
.swagger-ui .info p {
  margin: 8px 0;
}
.swagger-ui .markdown code,
.swagger-ui .renderedMarkdown code,
.swagger-ui .info code {
  color: #26465f;
  font-weight: 500;
}
.swagger-ui .markdown pre,
.swagger-ui .renderedMarkdown pre {
  border-radius: 4px;
  margin: 6px 0 14px;
  overflow-x: auto;
  padding: 8px 10px;
}
.swagger-ui .markdown pre > code,
.swagger-ui .renderedMarkdown pre > code {
  padding: 0;
  white-space: pre;
}
.swagger-ui .markdown table,
.swagger-ui .renderedMarkdown table {
  display: block;
  margin: 8px 0;
  max-width: 100%;
  overflow-x: auto;
  width: max-content;
}
.swagger-ui .markdown table :is(th, td),
.swagger-ui .renderedMarkdown table :is(th, td) {
  padding: 4px 16px 4px 0;
}
.swagger-ui .markdown table tbody tr td:first-of-type,
.swagger-ui .renderedMarkdown table tbody tr td:first-of-type {
  padding: 4px 16px 4px 0;
}
.swagger-ui .info details > summary {
  cursor: pointer;
  font-weight: 600;
  padding: 4px 0;
}

/* The section "Errors" shows the common body of errors; responses show only their text. */
.swagger-ui .response:is([data-code^='4'], [data-code^='5'])
  :is(.response-controls, .model-example, .headers-wrapper, .response-col_description > div:has(.headers)) {
  display: none;
}
.swagger-ui .response .renderedMarkdown p {
  margin: 4px 0;
}
.swagger-ui :is(.response-col_links, .responses-table .col_header.response-col_links) {
  display: none;
}

.other-pages {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 20px;
  margin: 0 auto;
  max-width: 1460px;
  padding: 14px 20px 0;
  font: 14px/1.4 system-ui, sans-serif;
}
.other-pages a {
  color: #2f54c4;
}

/* Dark, where Swagger UI leaves out what its own page does not show. */
html.dark-mode {
  background: #121419;
  color-scheme: dark;
}
html.dark-mode body,
html.dark-mode .swagger-ui,
html.dark-mode .swagger-ui .scheme-container {
  background: #121419;
}
html.dark-mode .other-pages a {
  color: #8ba8ff;
}
html.dark-mode .swagger-ui :is(.markdown, .renderedMarkdown, .info) code {
  color: #d3dcf5;
}

@media (max-width: 640px) {
  .swagger-ui .wrapper,
  .swagger-ui .opblock-tag-section {
    padding: 0 8px;
  }
  .swagger-ui .info .title {
    font-size: 24px;
  }
  .swagger-ui .opblock .opblock-summary {
    flex-wrap: wrap;
  }
  .swagger-ui .opblock .opblock-summary-path {
    max-width: 100%;
    word-break: break-all;
  }
  .swagger-ui :is(.opblock-description-wrapper, .table-container, .responses-inner, .opblock-section-header) {
    padding: 10px;
  }
  /* One column: the name or status is above its description. */
  .swagger-ui :is(.parameters, .responses-table, .headers),
  .swagger-ui :is(.parameters, .responses-table, .headers) > tbody,
  .swagger-ui :is(.parameters, .responses-table, .headers) > tbody > tr,
  .swagger-ui :is(.parameters, .responses-table, .headers) > tbody > tr > td {
    box-sizing: border-box;
    display: block;
    max-width: 100%;
    padding: 4px 0;
    width: 100%;
  }
  .swagger-ui :is(.parameters, .responses-table, .headers) > thead {
    display: none;
  }
  .swagger-ui :is(select, input, textarea) {
    max-width: 100%;
    min-width: 0;
  }
  .swagger-ui .scheme-container .schemes {
    padding: 0 8px;
  }
  .swagger-ui :is(.model-box, .model-example, .body-param) {
    max-width: 100%;
    overflow-x: auto;
  }
}
`;
