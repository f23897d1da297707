# doc/site: `make html` makes a site of the documents in html/, without a network; pages.py says from what
EXTRA_DIST += doc/site/conf.py doc/site/index.md doc/site/pages.py doc/start.md doc/levels.md doc/glossary.md
SITE_PAGES = $(PYTHON3) $(srcdir)/doc/site/pages.py $(srcdir) .
PYTHON3 = python3
.PHONY: html-local
html-local: all
	@test -z '$(SITE_LACKS)' || { echo 'make html needs: $(SITE_LACKS)' >&2; \
	  echo 'Debian has them in python3-sphinx, python3-myst-parser, furo and mandoc; then run configure again' >&2; exit 1; }
	$(SITE_PAGES) html-source
	$(SPHINXBUILD) -q -n -W --keep-going html-source html
	@echo 'html/index.html is the first page'

clean-local:
	rm -rf html html-source

# tests
TESTS += tests/package/site.sh
EXTRA_DIST += tests/package/site.sh
